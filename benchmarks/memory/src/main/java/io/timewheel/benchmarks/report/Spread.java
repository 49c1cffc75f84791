// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.util.Collection;
import java.util.Optional;

/** The median of some values, with their minimum and maximum. */
record Spread(double median, double min, double max, int count) {

  /** Returns the spread of the values, or nothing if there are none. */
  static Optional<Spread> of(Collection<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int count = sorted.length;
    if (count == 0) {
      return Optional.empty();
    }
    double below = sorted[(count - 1) / 2];
    double above = sorted[count / 2];
    // Equal middle values are not averaged: the mean of two infinities or huge values must be the
    // same value.
    double median = below == above ? below : (below + above) / 2;
    return Optional.of(new Spread(median, sorted[0], sorted[count - 1], count));
  }

  /** Returns this spread in a unit that is {@code factor} times as large. */
  Spread per(double factor) {
    return new Spread(median / factor, min / factor, max / factor, count);
  }

  /** Returns the median in the unit and, if there is one, the spread. */
  String text(String unit) {
    String least = Numbers.text(min);
    String greatest = Numbers.text(max);
    String spread = least.equals(greatest) ? "" : " (" + least + "–" + greatest + ")";
    return Numbers.text(median) + unit + spread;
  }
}
