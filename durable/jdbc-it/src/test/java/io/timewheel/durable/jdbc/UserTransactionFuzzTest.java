// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies that transactions of users on timers of a queue keep timers and indexes consistent. */
@Timeout(300)
@Tag("promise-67")
class UserTransactionFuzzTest {
  private static final int KEYS = 12;
  private static final int TRANSACTIONS = 150;

  final Fixture fixture = new Fixture(Server.of(this));
  final Fixture.Node node = fixture.start();
  private long nowMillis = NOW;
  private Random random;

  @AfterEach
  void close() {
    fixture.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void keepsTimersAndIndexesConsistent(long seed) throws SQLException {
    random = new Random(seed);
    try (Connection connection = fixture.transaction()) {
      for (int i = 0; i < TRANSACTIONS; i++) {
        nowMillis++;
        changeAsAnotherActor();
        transaction(connection);
        if (i % 50 == 0) {
          assertThat(node.store.verify().texts()).as("after %d transactions", i).isEmpty();
        }
      }
    }
    assertThat(node.store.verify().texts()).isEmpty();
    assertThat(count("READY", 1))
        .isEqualTo(fixture.number("SELECT count(*) FROM timewheel_ready"))
        .isEqualTo(fixture.number("SELECT count(*) FROM timewheel_timer WHERE state = 1"));
    assertThat(node.store.repair().isClean()).isTrue();
  }

  private long count(String state, int code) throws SQLException {
    assertThat(Codes.STATES.at(code)).isEqualTo(TimerState.valueOf(state));
    return node.store
        .counts()
        .getOrDefault("shop", Map.of())
        .getOrDefault(TimerState.valueOf(state), 0L);
  }

  private TimerKey someKey() {
    return key("id-" + random.nextInt(KEYS));
  }

  private void transaction(Connection connection) throws SQLException {
    TransactionTimer timer = TransactionTimers.of(node.store).in(connection);
    for (int calls = 1 + random.nextInt(3); calls > 0; calls--) {
      if (random.nextInt(3) == 0) {
        timer.scheduleAll(List.of(spec(), spec()));
      } else if (random.nextBoolean()) {
        timer.schedule(spec());
      } else {
        timer.cancel(someKey().namespace(), someKey().id());
      }
    }
    if (random.nextInt(4) > 0) {
      connection.commit();
    } else {
      connection.rollback();
    }
  }

  private TimerSpec spec() {
    return TimerSpec.of("shop", someKey().id())
        .after(Duration.ofMinutes(random.nextInt(3)))
        .queue(random.nextBoolean() ? "orders" : "parcels");
  }

  /** Makes an owner, a consumer or a caller change a timer. */
  private void changeAsAnotherActor() {
    for (int i = random.nextInt(4); i >= 0; i--) {
      TimerKey key = someKey();
      TimerRecord record = node.store.get(key);
      if (record == null) {
        continue;
      }
      switch (random.nextInt(8)) {
        case 0 -> node.commit(new Change.Cancel(key, 0, nowMillis));
        case 1 -> node.commit(new Change.Move(key, 0, nowMillis + 1_000, nowMillis));
        case 2 -> claim(record.definition().handler());
        default -> {
          if (record.state() == TimerState.SCHEDULED) {
            Outcome ready = node.commit(node.readied(key, nowMillis));
            assertThat(ready.answer()).isEqualTo(Outcome.Answer.APPLIED);
          }
        }
      }
    }
  }

  private void claim(String queue) {
    ClaimToken token = new ClaimToken(random.nextLong(), random.nextLong());
    LeaseRequest request = new LeaseRequest("shop", queue, 1, nowMillis + 30_000);
    node.store
        .lease(List.of(request), 1, nowMillis, () -> token)
        .forEach(
            leased -> {
              if (random.nextBoolean()) {
                node.commit(
                    new Change.Finish(
                        leased.key(),
                        token,
                        0,
                        Change.Finish.End.SUCCEEDED,
                        TimerRecord.NEVER,
                        null,
                        nowMillis));
              }
            });
  }
}
