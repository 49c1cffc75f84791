// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.api.ApiJson;
import io.timewheel.server.problem.Problem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The parameters of a request's query. */
public final class Query {
  private final Map<String, List<String>> values;

  private Query(Map<String, List<String>> values) {
    this.values = values;
  }

  static Query of(@Nullable String text, String... names) {
    Map<String, List<String>> values = parse(text);
    for (String name : values.keySet()) {
      if (!Set.of(names).contains(name)) {
        throw Problem.malformed("unknown parameter " + name).at(name).failure();
      }
    }
    return new Query(values);
  }

  /** Parses a query. A plus is a blank, as in forms. */
  private static Map<String, List<String>> parse(@Nullable String query) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    if (query == null || query.isEmpty()) {
      return values;
    }
    for (String pair : query.split("&", -1)) {
      int equals = pair.indexOf('=');
      String name = PercentDecoder.decode("query", (equals < 0 ? pair : pair.substring(0, equals)));
      String value = equals < 0 ? "" : pair.substring(equals + 1).replace("+", "%20");
      values
          .computeIfAbsent(name, key -> new ArrayList<>())
          .add(PercentDecoder.decode(name, value));
    }
    return values;
  }

  /** {@return the values of a parameter, which may be repeated or separated by commas} */
  public List<String> list(String name) {
    return values.getOrDefault(name, List.of()).stream()
        .flatMap(value -> List.of(value.split(",")).stream())
        .toList();
  }

  public @Nullable String text(String name) {
    List<String> all = values.getOrDefault(name, List.of());
    if (all.size() > 1) {
      throw Problem.malformed(name + ": is given twice").at(name).failure();
    }
    return all.isEmpty() ? null : all.get(0);
  }

  public int number(String name, int absent, int max) {
    String text = text(name);
    if (text == null) {
      return absent;
    }
    try {
      int number = Integer.parseInt(text);
      if (number >= 1 && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // refused below
    }
    throw wrong(name, text, "1 to " + max);
  }

  public @Nullable Instant instant(String name) {
    String text = text(name);
    try {
      return text == null ? null : ApiJson.parseInstant(text);
    } catch (RuntimeException e) {
      throw wrong(name, text, ApiJson.INSTANT);
    }
  }

  public boolean flag(String name) {
    String text = text(name);
    if (text == null || text.equals("false")) {
      return false;
    }
    if (text.isEmpty() || text.equals("true")) {
      return true;
    }
    throw wrong(name, text, "true or false");
  }

  public static Problem.Failure wrong(String name, @Nullable String text, String expected) {
    return Problem.malformed(name + ": " + text + " (expected: " + expected + ")")
        .at(name)
        .failure();
  }
}
