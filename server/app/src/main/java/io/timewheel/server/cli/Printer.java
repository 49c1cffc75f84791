// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Prints results, as the JSON of the API or as a table. Control characters in names are replaced,
 * so that no name can move the cursor of a terminal.
 */
final class Printer {
  private static final int MAX_CELL = 60;

  /** The only field that has a line for each line of its value. */
  private static final String TRACE = "lastTrace";

  /** Matches the boundary between two words of a field's name. */
  private static final Pattern WORDS = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])");

  private final PrintWriter out;
  private final boolean json;

  Printer(PrintWriter out, boolean json) {
    this.out = out;
    this.json = json;
  }

  boolean isJson() {
    return json;
  }

  /** Prints an answer, as JSON or with one field per line. */
  void fields(JsonNode answer) {
    if (json) {
      json(answer);
      return;
    }
    int width = 0;
    for (String name : answer.propertyNames()) {
      width = Math.max(width, name.length());
    }
    for (var field : answer.properties()) {
      JsonNode value = field.getValue();
      String label = field.getKey() + " ".repeat(width - field.getKey().length());
      if (value.isArray() && !value.isEmpty() && value.get(0).isObject()) {
        out.println(label);
        value.forEach(one -> out.println("  " + clean(inline(one))));
      } else if (field.getKey().equals(TRACE)) {
        out.println(label);
        value
            .asString()
            .lines()
            .forEach(line -> out.println("  " + clean(line.replace("\t", "  "))));
      } else {
        out.println(label + "  " + clean(inline(value)));
      }
    }
    out.flush();
  }

  /** Prints objects, as one JSON object or with one row each. */
  void rows(JsonNode whole, Iterable<JsonNode> rows, String... columns) {
    if (json) {
      json(whole);
      return;
    }
    List<String[]> lines = new ArrayList<>();
    String[] head = new String[columns.length];
    for (int i = 0; i < columns.length; i++) {
      head[i] = WORDS.matcher(columns[i]).replaceAll(" ").toUpperCase(Locale.ROOT);
    }
    lines.add(head);
    for (JsonNode row : rows) {
      String[] line = new String[columns.length];
      for (int i = 0; i < columns.length; i++) {
        line[i] = cell(row.path(columns[i]));
      }
      lines.add(line);
    }
    int[] widths = new int[columns.length];
    for (String[] line : lines) {
      for (int i = 0; i < line.length; i++) {
        widths[i] = Math.max(widths[i], line[i].length());
      }
    }
    for (String[] line : lines) {
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < line.length; i++) {
        text.append(line[i]).append(" ".repeat(widths[i] - line[i].length() + 2));
      }
      out.println(text.toString().stripTrailing());
    }
    out.flush();
  }

  void json(JsonNode answer) {
    out.println(ApiClient.JSON.writeValueAsString(answer));
    out.flush();
  }

  /** Prints a line for people. Prints nothing if the output is JSON. */
  void line(String text) {
    if (!json) {
      out.println(clean(text));
      out.flush();
    }
  }

  private static String cell(JsonNode value) {
    String text = clean(inline(value));
    return text.length() <= MAX_CELL ? text : text.substring(0, MAX_CELL - 1) + "…";
  }

  private static String inline(JsonNode value) {
    if (value.isMissingNode() || value.isNull()) {
      return "";
    }
    if (value.isString()) {
      return value.asString();
    }
    if (!value.isObject()) {
      return value.toString();
    }
    StringBuilder text = new StringBuilder();
    for (var field : value.properties()) {
      text.append(text.isEmpty() ? "" : "  ")
          .append(field.getKey())
          .append(' ')
          .append(inline(field.getValue()));
    }
    return text.toString();
  }

  static String clean(String text) {
    return text.codePoints()
        .map(
            c ->
                Character.isISOControl(c) || Character.getType(c) == Character.FORMAT
                    ? '\ufffd'
                    : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
