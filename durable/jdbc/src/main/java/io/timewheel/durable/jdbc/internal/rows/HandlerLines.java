// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import io.timewheel.durable.spi.record.HandlerNames;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Formats the handlers of a node as one text, with a line for each: {@code =} and a name, or {@code
 * ^} and a prefix. No name contains a line break.
 */
public final class HandlerLines {
  private HandlerLines() {}

  public static String format(HandlerNames handlers) {
    StringBuilder text = new StringBuilder();
    new TreeSet<>(handlers.names()).forEach(name -> text.append('=').append(name).append('\n'));
    new TreeSet<>(handlers.prefixes())
        .forEach(prefix -> text.append('^').append(prefix).append('\n'));
    return text.toString();
  }

  public static HandlerNames parse(String text) {
    Set<String> names = new HashSet<>();
    Set<String> prefixes = new HashSet<>();
    for (String line : text.split("\n", -1)) {
      if (line.startsWith("=")) {
        names.add(line.substring(1));
      } else if (line.startsWith("^")) {
        prefixes.add(line.substring(1));
      }
    }
    return new HandlerNames(names, prefixes);
  }
}
