// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The options of a command line: {@code --name value} pairs of known names. */
final class Options {
  private final Map<String, String> values = new LinkedHashMap<>();

  /** Parses a command line. */
  static Options parse(String[] args, String usage, Set<String> names) {
    Options options = new Options();
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i].startsWith("--") ? args[i].substring(2) : "";
      if (!names.contains(name) || i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " (expected: " + usage + ")");
      }
      options.values.put(name, args[i + 1]);
    }
    return options;
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  long number(String name, long otherwise) {
    String text = values.get(name);
    return text == null ? otherwise : Long.parseLong(text.replace("_", ""));
  }
}
