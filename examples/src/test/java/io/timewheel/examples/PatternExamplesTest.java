// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testkit.ManualTimer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

/** The examples of the patterns print what their javadoc shows, in no time. */
class PatternExamplesTest {

  @Test
  void rpcClient() throws InterruptedException {
    assertThat(output(RpcClient::play))
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
    assertThat(output(IdleServer::play))
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
    assertThat(output(LockWatchdog::play))
        .isEqualToNormalizingNewlines(
            """
            holding orders and stock
            lost stock
            unlocked orders
            locked at the server: []
            """);
  }

  private static String output(Scene.Play play) throws InterruptedException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    ManualTimer timer = ManualTimer.create();
    play.in(new Scene(timer, Runnable::run, timer::advanceBy, new PrintStream(bytes, true, UTF_8)));
    assertThat(timer.pendingTimeouts()).isZero();
    return bytes.toString(UTF_8);
  }
}
