// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

/**
 * A measured quantity.
 *
 * @param key its name in the recording
 * @param label its name and unit for readers
 * @param unit the size of the displayed unit in recorded units
 * @param moreIsBetter whether a greater value is better
 */
record Metric(String key, String label, double unit, boolean moreIsBetter) {

  static Metric more(String key, String label, double unit) {
    return new Metric(key, label, unit, true);
  }

  static Metric less(String key, String label) {
    return less(key, label, 1);
  }

  static Metric less(String key, String label, double unit) {
    return new Metric(key, label, unit, false);
  }

  String direction() {
    return moreIsBetter ? "more is better" : "less is better";
  }
}
