// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.util.List;

/**
 * What the timers are held to, and what became of it.
 *
 * @param figure what is measured, of whom, against whom
 * @param promised what it must be
 * @param measured what each part of it is, with the spread over the rounds
 * @param verdict whether it is kept
 */
record Promise(String figure, String promised, List<String> measured, Verdict verdict) {

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
