// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.testing.BareDataSource;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that nodes stop beginning attempts that they claimed before a pause. */
@Timeout(120)
@Tag("promise-60")
class ClusterPausesTest {
  final Fixture fixture = new Fixture(Server.of(this));

  /** The attempts of the handler of {@link #first}. */
  final AtomicInteger attempts = new AtomicInteger();

  final Semaphore begun = new Semaphore(0);
  final CountDownLatch goOn = new CountDownLatch(1);

  @AfterEach
  void close() {
    fixture.close();
  }

  /** A data source that a test can cut off from its database. */
  private final class CutSource extends BareDataSource {
    private final DataSource source = fixture.pool;
    volatile boolean cut;

    @Override
    public Connection getConnection() throws SQLException {
      if (cut) {
        throw new SQLTransientConnectionException("cut off");
      }
      return source.getConnection();
    }
  }

  private Fixture.Node node(DataSource source) {
    Fixture.Node node = new Fixture.Node(fixture.builder(source).shards(4).notifications(false));
    node.store.start(node);
    return node;
  }

  private static void close(Fixture.Node... nodes) {
    for (Fixture.Node node : nodes) {
      node.store.close();
    }
  }

  @Test
  void notifiesANodeOfEachPauseOnce() {
    Fixture.Node here = node(fixture.pool);
    Fixture.Node other = node(fixture.pool);
    here.store.pause("shop");
    assertThat(here.told).contains("paused shop");
    assertThat(other.told).as("waits for no node").doesNotContain("paused shop");
    other.store.applyPauses();
    other.store.applyPauses();
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(1);
    here.store.pause("shop");
    other.store.applyPauses();
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(2);
    here.store.resume("shop");
    here.store.pause("shop");
    here.store.pause(TimerStore.EVERYTHING);
    other.store.applyPauses();
    assertThat(other.told).filteredOn("paused shop"::equals).hasSize(3);
    assertThat(other.told).contains("paused ");
    close(here, other);
  }

  @Test
  void aNodeThatIsCutOffAppliesAPauseWhenItReachesTheDatabaseAgain() {
    CutSource source = new CutSource();
    Fixture.Node here = node(fixture.pool);
    Fixture.Node other = node(source);
    source.cut = true;
    here.store.pause("shop");
    assertThatExceptionOfType(StoreException.class).isThrownBy(other.store::applyPauses);
    assertThat(other.told).doesNotContain("paused shop");
    source.cut = false;
    other.store.applyPauses();
    assertThat(other.told).contains("paused shop");
    close(here, other);
  }

  @Test
  void isLiveOnlyWhileItsLeaseLasts() {
    Fixture.Node node = node(fixture.pool);
    assertThat(node.store.isLive()).isTrue();
    node.clock.advanceMillis(9_001);
    assertThat(node.store.isLive()).isFalse();
    close(node);
  }

  private DurableTimer first(JdbcTimerStoreBuilder builder) {
    return DurableTimer.builder(builder.shards(1).open())
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
  }

  private DurableTimer second() {
    return DurableTimer.builder(fixture.builder(fixture.pool).shards(1).open()).start();
  }

  /** Schedules 20 timers. The first node claims four of them, of which two begin. */
  private void claimFour(DurableTimer first) throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      first.schedule(TimerSpec.of("shop", "t" + i).after(Duration.ZERO).handler("orders"));
    }
    begun.acquire(2);
    Await.until(() -> running(first) == 4);
  }

  private static long running(DurableTimer timer) {
    return timer.counts().get("shop").getOrDefault(TimerState.RUNNING, 0L);
  }

  @Test
  void anotherNodeGivesBackTheAttemptsThatHaveNotBegun() throws InterruptedException {
    try (DurableTimer first = first(fixture.builder(fixture.pool));
        DurableTimer second = second()) {
      claimFour(first);
      assertThat(second.namespace("shop").pause()).as("claimed timers").isBetween(2L, 4L);
      Await.until(() -> running(second) == 2);
      assertThat(second.namespace("shop").pause()).as("again").isEqualTo(2L);
      goOn.countDown();
      Await.until(() -> running(second) == 0);
      assertThat(attempts).hasValue(2);
      assertThat(second.counts().get("shop")).containsEntry(TimerState.COMPLETED, 2L);
      second.namespace("shop").resume();
      begun.acquire(18);
    }
  }

  @Test
  void aNodeThatIsCutOffBeginsNoClaimedAttemptAfterItsNodeLease() throws InterruptedException {
    CutSource source = new CutSource();
    Fixture.Clock clock = new Fixture.Clock();
    JdbcTimerStoreBuilder builder = fixture.builder(source).notifications(false);
    builder.clock = clock;
    try (DurableTimer first = first(builder);
        DurableTimer second = second()) {
      claimFour(first);
      source.cut = true;
      assertThat(second.namespace("shop").pause()).as("waits for no node").isEqualTo(4);
      clock.advanceMillis(9_001);
      goOn.countDown();
      Await.until(() -> first.stats().ownQueued() >= 4); // two ends, and two are given back
      assertThat(attempts).hasValue(2);
      source.cut = false;
      Await.until(() -> running(second) == 0);
      assertThat(attempts).hasValue(2);
    }
  }

  /** The lease thread of the consumer's node must not wait for the stage. */
  @Test
  void pausesThatAConsumersStageWaitsForCostNoNodeLease() throws InterruptedException {
    JdbcTimerStore store = fixture.builder(fixture.pool).shards(1).open();
    try (DurableTimer first = DurableTimer.builder(store).start();
        DurableTimer second = second()) {
      Semaphore paused = new Semaphore(0);
      var unused =
          first
              .async()
              .queue("shop", "mail")
              .claim(1, Duration.ofSeconds(30), Duration.ofSeconds(30))
              .thenAccept(
                  firings -> {
                    pauseMany(second);
                    first.namespace("own").pause(); // applies the others, too
                    paused.release();
                  });
      first.schedule(TimerSpec.of("shop", "t").after(Duration.ZERO).queue("mail"));
      paused.acquire();
      assertThat(store.figures().leasesLost()).isZero();
    }
  }

  private static void pauseMany(DurableTimer timer) {
    CompletableFuture.allOf(
            IntStream.range(0, 12)
                .mapToObj(
                    i ->
                        CompletableFuture.runAsync(
                            () -> timer.namespace("scope-" + i).pause(),
                            work -> new Thread(work).start()))
                .toArray(CompletableFuture[]::new))
        .join();
  }
}
