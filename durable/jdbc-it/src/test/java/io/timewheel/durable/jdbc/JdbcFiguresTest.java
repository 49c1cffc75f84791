// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.timewheel.durable.jdbc.LossySource.Fate;
import io.timewheel.durable.jdbc.internal.notifications.Notifications;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome.Answer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Verifies that each counter grows only through its own operation. */
@Timeout(120)
class JdbcFiguresTest {
  private static final Duration LEASE = Duration.ofHours(1);

  private final Fixture fixture = new Fixture(Server.of(this));
  private final LossySource source = new LossySource(fixture.pool);

  /** Makes node leases so long that none expires during a slow test. */
  @BeforeEach
  void lengthenLeases() {
    fixture.lease = LEASE;
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static void assertShards(Fixture.Node node, long received, long takenOver, long given) {
    assertThat(node.store.figures())
        .returns(received, JdbcFigures::shardsReceived)
        .returns(takenOver, JdbcFigures::shardsTakenOver)
        .returns(given, JdbcFigures::shardsGiven);
  }

  @Test
  void distinguishesReleasedShardsFromTakeovers() throws SQLException {
    Fixture.Node first = fixture.start();
    assertShards(first, 4, 0, 0);
    Fixture.Node second = fixture.start();
    first.ownership().balance();
    first.ownership().give();
    second.ownership().balance();
    assertShards(first, 4, 0, 2);
    assertShards(second, 2, 0, 0);
    fixture.expireLeases();
    second.ownership().renew(); // joins again as another node
    second.ownership().balance();
    assertShards(second, 2, 4, 0);
  }

  @Test
  void countsAnExpiredLeaseOnceAlthoughTheNodeStoppedBefore() throws SQLException {
    Fixture.Node node = fixture.start();
    assertThat(node.store.figures().leasesLost()).isZero();
    node.clock.advanceMillis(LEASE.toMillis() - 1_000);
    node.ownership().watch();
    fixture.expireLeases();
    node.ownership().renew();
    assertThat(node.store.figures().leasesLost()).isOne();
    node.ownership().balance();
    assertShards(node, 4, 4, 0);
    fixture.expireLeases();
    node.ownership().renew();
    assertThat(node.store.figures().leasesLost()).isEqualTo(2);
  }

  @Test
  void receivesItsOwnShardsIfItStoppedInTime() {
    Fixture.Node node = fixture.start();
    node.clock.advanceMillis(LEASE.toMillis() - 1_000);
    node.ownership().watch();
    node.ownership().renew();
    node.ownership().balance();
    assertThat(node.epochs).hasSize(4);
    assertThat(node.store.figures().leasesLost()).isOne();
    assertShards(node, 8, 0, 0);
  }

  @Test
  void countsCommitsThatTheFenceRefuses() throws SQLException {
    Fixture.Node zombie = fixture.start();
    zombie.commit(schedule("a", NOW));
    Change.Begin begin = zombie.begin("a");
    Fixture.Node other = fixture.start();
    fixture.expireLeases();
    other.ownership().renew();
    other.ownership().balance();
    assertThat(zombie.store.figures().fenceRefusals()).isZero();
    assertThat(zombie.commit(begin).answer()).isEqualTo(Answer.STALE_OWNER);
    assertThat(zombie.store.figures().fenceRefusals()).isOne();
    assertThat(other.commit(other.begin("a")).answer()).isEqualTo(Answer.APPLIED);
    assertThat(other.store.figures().fenceRefusals()).isZero();
  }

  @Test
  void timesSweepsAndTheWaitForConnections() {
    Fixture.Node node = fixture.open(source, 4);
    node.commit(schedule("a", NOW));
    int shard = Shards.of(key("a"), 4);
    JdbcFigures before = node.store.figures();
    source.onConnection = () -> node.clock.advanceMillis(5);
    source.onPrepare = () -> node.clock.advanceMillis(7);
    node.store.due(shard, NOW + 1, null, 10);
    node.store.due(shard, NOW + 1, null, 10);
    node.store.due(shard, NOW, null, 10);
    source.connections = 0;
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.store.due(shard, NOW, null, 10));
    JdbcFigures after = node.store.figures();
    assertThat(before.fullSweeps()).isEqualTo(new JdbcFigures.Sweeps(0, 0, 0));
    assertThat(before.sweeps()).isEqualTo(new JdbcFigures.Sweeps(0, 0, 0));
    assertThat(after.fullSweeps()).isEqualTo(new JdbcFigures.Sweeps(1, 1, 7_000_000));
    assertThat(after.sweeps()).isEqualTo(new JdbcFigures.Sweeps(2, 1, 14_000_000));
    assertThat(after.connectionWaits() - before.connectionWaits()).isEqualTo(4);
    assertThat(after.connectionWaitNanos() - before.connectionWaitNanos()).isEqualTo(20_000_000);
  }

  @Test
  void countsTheOutcomesOfCommitsWhoseAnswerWasLost() {
    Fixture.Node node = fixture.open(source, 4);
    assertLost(node, 0, 0, 0);
    source.fates.add(Fate.ANSWER_LOST);
    node.commit(schedule("a", NOW));
    assertLost(node, 1, 0, 0);
    source.fates.add(Fate.COMMIT_LOST);
    node.commit(schedule("b", NOW));
    assertLost(node, 1, 1, 0);
    source.fates.add(Fate.ANSWER_LOST);
    source.connections = 1; // none is left for the lookup
    assertThatExceptionOfType(StoreException.class)
        .isThrownBy(() -> node.commit(schedule("c", NOW)))
        .returns(StoreException.Kind.UNKNOWN, StoreException::kind);
    assertLost(node, 1, 1, 1);
  }

  private static void assertLost(Fixture.Node node, long committed, long aborted, long unknown) {
    assertThat(node.store.figures())
        .returns(committed, JdbcFigures::lostAnswersCommitted)
        .returns(aborted, JdbcFigures::lostAnswersAborted)
        .returns(unknown, JdbcFigures::lostAnswersUnknown);
  }

  @Test
  void countsNotifications() throws InterruptedException {
    Fixture.Node owner = fixture.start();
    Fixture.Node other = fixture.open();
    other.commit(schedule("far", NOW + Notifications.NEAR_MILLIS));
    assertThat(other.store.figures().notificationsSent()).isZero();
    long sent = 0;
    // The owner may not listen yet. A notification that it misses then does not matter here.
    while (owner.notifications.isEmpty() || sent < 2) {
      other.commit(schedule("near-" + ++sent, NOW + 50));
      boolean unused = owner.notified.tryAcquire(1, TimeUnit.SECONDS);
    }
    assertThat(other.store.figures().notificationsSent()).isEqualTo(sent);
    assertThat(other.store.figures().notificationsReceived()).isZero();
    assertThat(owner.store.figures().notificationsSent()).isZero();
    assertThat(owner.store.figures().notificationsReceived()).isBetween(1L, sent);
  }
}
