// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.problem;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerFilter;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ProblemTest {
  private static Problem of(ThrowingCallable call) {
    return Problem.of(Assertions.catchThrowable(call));
  }

  @Test
  void onlyKnownExceptionsAreMistakesOfTheCaller() {
    DurableTimer closed;
    try (DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      Problem refused = of(() -> scheduler.timers(TimerFilter.all()).list(0, null));
      assertThat(refused.status()).isEqualTo(422);
      assertThat(refused.field()).isEqualTo("pageSize");
      assertThat(refused.cause()).isNull();
      closed = scheduler;
    }
    assertThat(of(() -> closed.timer("shop", "a").get()).status()).isEqualTo(503);
    assertThat(of(() -> closed.timer("shop", "a").cancel()).status()).isEqualTo(503);
  }

  @Test
  void allOtherExceptionsAreErrorsOfTheServer() {
    for (Throwable error :
        List.of(
            new IllegalStateException("secret"),
            new IllegalArgumentException("at: secret"),
            new NullPointerException("secret"))) {
      Problem problem = Problem.of(error);
      assertThat(problem.status()).isEqualTo(500);
      assertThat(problem.cause()).as("for the log").isSameAs(error);
      assertThat(problem.detail()).doesNotContain("secret");
    }
  }
}
