// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.util.List;

/**
 * A target of the benchmarks, and its measurements.
 *
 * @param figure the measured quantity and the compared subjects
 * @param aim the required value
 * @param measured the value of each part, with the spread over the rounds
 * @param verdict whether the target is met
 */
record Target(String figure, String aim, List<String> measured, Verdict verdict) {

  enum Verdict {
    MET("met"),
    NOT_MET("**NOT met**"),
    NOT_MEASURED("not measured");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }
  }
}
