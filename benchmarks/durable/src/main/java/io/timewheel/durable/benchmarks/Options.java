// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The options of a command line. The help lists each of them. */
final class Options {
  private final Map<String, String> values = new LinkedHashMap<>();

  private Options() {}

  /** Parses a command line. {@code alone} contains the options without a value. */
  static Options parse(String help, List<String> alone, String... args) {
    Options options = new Options();
    for (int i = 0; i < args.length; i++) {
      String name = args[i].replaceFirst("^--", "");
      boolean known = name.equals("help") || help.contains("  --" + name + " ");
      if (!args[i].startsWith("--") || !known) {
        throw new IllegalArgumentException("no option " + args[i] + "\n" + help);
      }
      if (alone.contains(name)) {
        options.values.put(name, "");
      } else if (i + 1 < args.length) {
        options.values.put(name, args[++i]);
      } else {
        throw new IllegalArgumentException(args[i] + " wants a value\n" + help);
      }
    }
    return options;
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  int number(String name, int otherwise) {
    return Integer.parseInt(text(name, Integer.toString(otherwise)));
  }

  /** Returns whether the list of an option contains a name. An absent list contains every name. */
  boolean names(String name, String one) {
    return !has(name) || List.of(text(name, "").split(",", -1)).contains(one);
  }
}
