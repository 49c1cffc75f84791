// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests code that uses a timer without waiting; the README quotes it. */
class ManualTimeTest {
  @Test
  void aSessionClosesAfter30SecondsWithoutAMessage() {
    ManualTimer timer = ManualTimer.create();
    Session session = new Session(timer, Duration.ofSeconds(30));

    timer.advanceBy(Duration.ofSeconds(29));
    session.received("ping");
    timer.advanceBy(Duration.ofSeconds(29));
    assertThat(session.isOpen()).isTrue();
    timer.advanceBy(Duration.ofSeconds(1));
    assertThat(session.isOpen()).isFalse();
  }

  /** The code under test. It receives a timer, of any kind. */
  private static final class Session {
    private final Duration idleTime;
    private final Timeout idle;
    private boolean open = true;

    Session(Timer timer, Duration idleTime) {
      this.idleTime = idleTime;
      idle = timer.newTimeout(timeout -> open = false, idleTime);
    }

    void received(String message) {
      if (!message.isEmpty()) {
        idle.reschedule(idleTime);
      }
    }

    boolean isOpen() {
      return open;
    }
  }
}
