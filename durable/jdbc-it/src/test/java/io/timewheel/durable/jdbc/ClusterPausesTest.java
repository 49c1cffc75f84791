// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.testing.Await;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that a pause returns only when no node can begin an attempt that it claimed before. */
@Timeout(120)
@Tag("promise-60")
class ClusterPausesTest {
  final Fixture fixture = new Fixture(Server.of(this));

  @AfterEach
  void close() {
    fixture.close();
  }

  private Fixture.Node node() {
    Fixture.Node node =
        new Fixture.Node(fixture.builder(fixture.pool).shards(4).notifications(false));
    node.store.start(node);
    return node;
  }

  @Test
  void returnsTheSumOfRunningAttemptsWhenAllNodesHaveConfirmed() {
    Fixture.Node here = node();
    Fixture.Node first = node();
    Fixture.Node second = node();
    here.running = 1;
    first.running = 2;
    second.running = 4;
    int[] waits = new int[1];
    here.onPause =
        () -> {
          if (++waits[0] == 3) {
            first.store.confirmPauses();
          } else if (waits[0] == 5) {
            assertThat(second.told).doesNotContain("paused shop");
            second.store.confirmPauses();
          }
        };
    assertThat(here.store.pause("shop")).isEqualTo(7);
    assertThat(waits[0]).isEqualTo(5);
    assertThat(List.of(here, first, second)).allMatch(node -> node.told.contains("paused shop"));
    close(here, first, second);
  }

  private static void close(Fixture.Node... nodes) {
    for (Fixture.Node node : nodes) {
      node.store.close();
    }
  }

  @Test
  void notifiesANodeOfEachPauseOnce() {
    Fixture.Node here = node();
    Fixture.Node other = node();
    here.onPause = other.store::confirmPauses;
    here.store.pause("shop");
    other.store.confirmPauses();
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(1);
    here.store.pause("shop");
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(2);
    here.store.resume("shop");
    here.store.pause("shop");
    here.store.pause(TimerStore.EVERYTHING);
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(3);
    assertThat(other.told).contains("paused ");
    close(here, other);
  }

  @Test
  void aNodeThatJoinsAgainConfirmsAPauseUnderItsNewNumber() throws SQLException {
    Fixture.Node here = node();
    Fixture.Node other = node();
    here.onPause = other.store::confirmPauses;
    here.store.pause("shop");
    fixture.expireLeases();
    other.ownership().renew();
    other.store.confirmPauses();
    assertThat(confirmations(other)).isEqualTo(1);
    close(here, other);
  }

  /** The pausing node may read the nodes after that node has joined. */
  @Test
  void aStartingNodeConfirmsAPauseThatItHasRead() throws SQLException {
    Fixture.Node here = node();
    here.store.pause("shop");
    Fixture.Node late = node();
    late.store.confirmPauses();
    assertThat(confirmations(late)).isEqualTo(1);
    close(here, late);
  }

  private long confirmations(Fixture.Node node) throws SQLException {
    return fixture.number(
        "SELECT count(*) FROM timewheel_pause_seen WHERE node = " + node.ownership().incarnation());
  }

  @Test
  void waitsForNoNodeThatHasLostItsLease() {
    Fixture.Node here = node();
    Fixture.Node dead = node();
    here.onPause =
        () -> {
          try {
            fixture.execute(
                "UPDATE timewheel_node SET lease_until = 0 WHERE node = "
                    + dead.ownership().incarnation());
          } catch (SQLException e) {
            throw new IllegalStateException(e);
          }
        };
    assertThat(here.store.pause("shop")).isZero();
    assertThat(dead.told).doesNotContain("paused shop");
    close(here, dead);
  }

  @Test
  void waitsForNoNodeThatHasJoinedSince() {
    Fixture.Node here = node();
    Fixture.Node other = node();
    Fixture.Node[] late = new Fixture.Node[1];
    here.onPause =
        () -> {
          if (late[0] == null) {
            late[0] = node();
          } else {
            other.store.confirmPauses();
          }
        };
    here.store.pause("shop");
    assertThat(late[0].told).doesNotContain("paused shop");
    close(here, other, late[0]);
  }

  @Test
  void reportsTheNodesThatHaveNotConfirmedIt() {
    Fixture.Node here = node();
    Fixture.Node silent = node();
    here.onPause = () -> here.clock.advanceMillis(1_000);
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> here.store.pause("shop"))
        .withMessageContaining("(limit: PT20S): node-" + silent.ownership().incarnation())
        .returns(StoreException.Kind.UNKNOWN, StoreException::kind);
    assertThat(here.store.paused()).containsExactly("shop");
    here.onPause = silent.store::confirmPauses;
    assertThat(here.store.pause("shop")).as("asked again").isZero();
    close(here, silent);
  }

  @Test
  void isLiveOnlyWhileItsLeaseLasts() {
    Fixture.Node node = node();
    assertThat(node.store.isLive()).isTrue();
    node.clock.advanceMillis(9_001);
    assertThat(node.store.isLive()).isFalse();
    close(node);
  }

  /** Uses real engines: one has claimed more timers than it may run; the other one pauses. */
  @Test
  void noAttemptBeginsOnAnotherNodeAfterThePause() throws InterruptedException {
    Semaphore begun = new Semaphore(0);
    CountDownLatch goOn = new CountDownLatch(1);
    AtomicInteger attempts = new AtomicInteger();
    try (DurableTimer first =
            DurableTimer.builder(fixture.builder(fixture.pool).shards(1).open())
                .handler(
                    "orders",
                    firing -> {
                      attempts.incrementAndGet();
                      begun.release();
                      goOn.await();
                    },
                    2,
                    null)
                .start();
        DurableTimer second =
            DurableTimer.builder(fixture.builder(fixture.pool).shards(1).open()).start()) {
      for (int i = 0; i < 20; i++) {
        first.schedule(TimerSpec.of("shop", "t" + i).after(Duration.ZERO).handler("orders"));
      }
      begun.acquire(2);
      assertThat(second.namespace("shop").pause()).isEqualTo(2);
      goOn.countDown();
      Await.until(() -> !second.counts().get("shop").containsKey(TimerState.RUNNING));
      assertThat(attempts).hasValue(2);
      assertThat(second.counts().get("shop")).containsEntry(TimerState.COMPLETED, 2L);
      second.namespace("shop").resume();
      begun.acquire(18);
    }
  }
}
