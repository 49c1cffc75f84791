// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import static org.assertj.core.api.Assertions.assertThat;

import jdk.jfr.FlightRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** The events cannot be loaded yet, as no thread can be started for that. */
class EventsTest {
  @Test
  @EnabledForJreRange(max = JRE.JAVA_20) // later ones do not ask the thread for its class loader
  void triesAgainToLoadTheEventsIfNoThreadCouldBeStarted() throws Exception {
    FlightRecorder.getFlightRecorder();
    TwoLooks looks = new TwoLooks();
    looks.start();
    looks.join();
    assertThat(looks.tries).as("threads that were to load the events").isEqualTo(2);
  }

  /** Two events, on a thread that can make no other. */
  private static final class TwoLooks extends Thread {
    private int tries;

    @Override
    public void run() {
      for (int i = 0; i < 2; i++) {
        Object unused = Events.attemptBegins();
      }
    }

    @Override
    public ClassLoader getContextClassLoader() {
      tries++;
      throw new OutOfMemoryError("on purpose");
    }
  }
}
