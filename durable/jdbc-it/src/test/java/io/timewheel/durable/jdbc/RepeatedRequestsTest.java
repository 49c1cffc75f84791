// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sends the same requests to two nodes at the same time. */
@Timeout(300)
class RepeatedRequestsTest {
  private static final int ROUNDS = 100;
  private static final int TIMERS = 10;

  @Test
  void eachRequestIsExecutedByOneOfTwoNodes() {
    Database database = Server.of(this).empty();
    try (HikariDataSource firstPool = database.pool(6);
        HikariDataSource secondPool = database.pool(6);
        JdbcTimerStore first = Server.of(this).builder(firstPool).open();
        JdbcTimerStore second = Server.of(this).builder(secondPool).open()) {
      for (int i = 0; i < TIMERS; i++) {
        first.commit(List.of(Fixture.schedule("t" + i, Fixture.NOW + 1_000_000)));
      }
      CyclicBarrier start = new CyclicBarrier(2);
      ExecutorService threads = Executors.newFixedThreadPool(2);
      for (int round = 0; round < ROUNDS; round++) {
        List<Change> changes = changes("r-" + round);
        var one = CompletableFuture.supplyAsync(() -> commit(first, changes, start), threads);
        var other = CompletableFuture.supplyAsync(() -> commit(second, changes, start), threads);
        List<Outcome> outcomes = new ArrayList<>(one.join());
        List<Outcome> repeated = other.join();
        for (int i = 0; i < TIMERS; i++) {
          assertThat(repeated.get(i).answer()).isEqualTo(Answer.APPLIED);
          assertThat(outcomes.get(i).repeated()).isNotEqualTo(repeated.get(i).repeated());
        }
      }
      threads.shutdown();
      for (int i = 0; i < TIMERS; i++) {
        TimerRecord record = first.get(new TimerKey("shop", "t" + i));
        assertThat(record.revision()).isEqualTo(ROUNDS);
      }
      assertThat(first.purgeAnswers(Fixture.NOW + 1, 10_000)).isEqualTo(ROUNDS * TIMERS);
    }
  }

  private static List<Change> changes(String request) {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < TIMERS; i++) {
      changes.add(
          new Change.Verb(
              new TimerKey("shop", "t" + i),
              Change.Verb.Command.RUN,
              0,
              RequestId.of(request),
              Fixture.NOW));
    }
    return changes;
  }

  private static List<Outcome> commit(
      JdbcTimerStore store, List<Change> changes, CyclicBarrier start) {
    try {
      start.await();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    while (true) {
      try {
        return store.commit(changes);
      } catch (HeldTimersException e) {
        // The other node holds the timers. The engine repeats such a commit, too.
      }
    }
  }
}
