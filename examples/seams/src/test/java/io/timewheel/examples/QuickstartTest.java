// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class QuickstartTest {
  /** Another thread prints the greeting, so it may precede any line except the last. */
  @Test
  void printsTheOutputInItsJavadoc() throws Exception {
    assertThat(Output.of(Quickstart::main).lines())
        .containsExactlyInAnyOrder(
            "moved: true",
            "cancelled: true",
            "cancelled once more: false",
            "hello, 50 ms later",
            "pending when stopped: 1")
        .endsWith("pending when stopped: 1");
  }
}
