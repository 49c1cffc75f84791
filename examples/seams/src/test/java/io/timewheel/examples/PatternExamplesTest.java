// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Verifies that the examples of the patterns print the output in their Javadoc, without waiting.
 */
class PatternExamplesTest {

  @Test
  void rpcClient() throws InterruptedException {
    assertThat(Output.inNoTime(RpcClient::play))
        .isEqualToNormalizingNewlines(
            """
            request 1: pong
            request 2: TimeoutException
            request 2: the answer came late
            request 3: IllegalStateException
            in flight: 0
            """);
  }

  @Test
  void idleServer() throws InterruptedException {
    assertThat(Output.inNoTime(IdleServer::play))
        .isEqualToNormalizingNewlines(
            """
            ping, answered
            ping, answered
            ping
            ping
            closed: nothing was read for 250 ms
            connections: 0
            """);
  }

  @Test
  void lockWatchdog() throws InterruptedException {
    assertThat(Output.inNoTime(LockWatchdog::play))
        .isEqualToNormalizingNewlines(
            """
            holding orders and stock
            lost stock: REFUSED
            unlocked orders
            locked at the server: []
            """);
  }
}
