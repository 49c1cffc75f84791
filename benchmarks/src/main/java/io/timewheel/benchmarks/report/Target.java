// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.util.List;

/**
 * A figure that the benchmarks aim at, and what was measured.
 *
 * @param figure what is measured, of whom, against whom
 * @param aim what it should be
 * @param measured what each part of it is, with the spread over the rounds
 * @param verdict whether it is met
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
