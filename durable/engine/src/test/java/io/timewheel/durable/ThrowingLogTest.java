// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Verifies that a throwing log loses only its line. */
class ThrowingLogTest extends OnStand {
  private final Logger logger = Logger.getLogger(DurableTimer.class.getName());
  private final Level levelBefore = logger.getLevel();
  private Handler installed;

  private void logThrows() {
    installed =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            throw new OutOfMemoryError("a log");
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    logger.setLevel(Level.WARNING); // a simulation may have silenced it
    logger.addHandler(installed);
  }

  @AfterEach
  void removeHandler() {
    logger.removeHandler(installed);
    logger.setLevel(levelBefore);
  }

  @Test
  void anAttemptThatTheWheelRefusesWaitsForATick() {
    store =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ofMillis(100), Duration.ZERO));
    scheduler =
        stand.start(
            new ForwardingTimerStore(store) {
              @Override
              public List<Outcome> commit(List<Change> changes) {
                boolean first =
                    installed == null && changes.stream().anyMatch(Change.Begin.class::isInstance);
                if (first) {
                  stand.wheel.refusal = new OutOfMemoryError("a wheel");
                  logThrows();
                }
                return super.commit(changes);
              }
            },
            this::settings);
    scheduler.schedule(spec("a").after(Duration.ofSeconds(1)));
    advance(950);
    assertThat(installed).isNotNull();
    stand.wheel.refusal = null;
    advance(2_000);
    assertThat(fired).containsExactly("a");
    assertThat(timer("a").state()).isEqualTo(TimerState.COMPLETED);
    assertThat(timer("a").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.SUCCEEDED);
  }

  @Test
  void anAttemptThatIsRefusedKeepsItsLaneGoing() {
    start();
    stand.handlers.refusal = new RejectedExecutionException("full");
    logThrows();
    scheduler.schedule(spec("a").after(Duration.ZERO));
    advance(100);
    stand.handlers.refusal = null;
    advance(2_000);
    assertThat(fired).containsExactly("a");
  }

  @Test
  void blocksTimersWithoutAHandler() {
    start();
    logThrows();
    scheduler.schedule(TimerSpec.of("shop", "a").handler("unknown").after(Duration.ZERO));
    advance(100);
    assertThat(timer("a").state()).isEqualTo(TimerState.BLOCKED);
  }

  @Test
  void skippedMissedRunsFreeTheirSlots() {
    start(); // two are claimed at a time
    logThrows();
    Duration hour = Duration.ofHours(1);
    for (String id : List.of("a", "b", "c")) {
      scheduler.schedule(spec(id).every(hour).missed(MissedRuns.SKIP));
    }
    stand.skew = Duration.ofMinutes(190);
    advance(2_000);
    assertThat(scheduler.stats().skipped()).isEqualTo(9);
    stand.skew = Duration.ofHours(4);
    advance(2_000);
    assertThat(fired).containsExactlyInAnyOrder("a", "b", "c");
  }
}
