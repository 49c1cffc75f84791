// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Numbers that determine the size of a workload, by name; as text {@code a=1,b=2}. */
record Parameters(Map<String, Long> values) {
  static Parameters parse(String text) {
    Map<String, Long> values = new LinkedHashMap<>();
    Arrays.stream(text.split(","))
        .filter(part -> !part.isEmpty())
        .map(part -> part.split("=", 2))
        .forEach(part -> values.put(part[0], Long.parseLong(part[1])));
    return new Parameters(values);
  }

  long get(String name) {
    Long value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no parameter " + name + " in " + values);
    }
    return value;
  }

  long get(String name, long otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  int getInt(String name) {
    return Math.toIntExact(get(name));
  }

  Parameters with(String name, long value) {
    Map<String, Long> changed = new TreeMap<>(values);
    changed.put(name, value);
    return new Parameters(changed);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    values.forEach(
        (name, value) ->
            text.append(text.isEmpty() ? "" : ",").append(name).append('=').append(value));
    return text.toString();
  }
}
