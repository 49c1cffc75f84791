// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerState;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs two engines on one database, with their threads and real clocks. */
@Timeout(300)
@Tag("promise-58")
class TwoTimersTest {
  private static final int TIMERS = 200;

  private final Map<String, Integer> fired = new ConcurrentHashMap<>();
  private final CountDownLatch all = new CountDownLatch(2 * TIMERS);

  @Test
  void everyTimerOfEitherEngineFiresOnce() throws InterruptedException {
    Database database = Server.of(this).empty();
    try (HikariDataSource firstPool = database.pool(6);
        HikariDataSource secondPool = database.pool(6);
        DurableTimer first = start(firstPool);
        DurableTimer second = start(secondPool)) {
      for (int i = 0; i < TIMERS; i++) {
        first.schedule(spec("first-" + i));
        second.schedule(spec("second-" + i));
      }
      all.await();
      assertThat(fired).hasSize(2 * TIMERS).allSatisfy((id, times) -> assertThat(times).isOne());
      assertThat(first.timer("shop", "second-0").cancel().toString())
          .containsAnyOf("RUNNING", "COMPLETED");
    }
    try (HikariDataSource pool = database.pool(6);
        JdbcTimerStore store = Server.of(this).builder(pool).open()) {
      assertThat(store.counts())
          .isEqualTo(Map.of("shop", Map.of(TimerState.COMPLETED, 2L * TIMERS)));
    }
  }

  private DurableTimer start(HikariDataSource pool) {
    return DurableTimer.builder(Server.of(this).builder(pool).open())
        .handler("orders", this::handle)
        .start();
  }

  private void handle(Firing firing) {
    fired.merge(firing.id(), 1, Integer::sum);
    all.countDown();
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).after(Duration.ofMillis(50)).handler("orders");
  }
}
