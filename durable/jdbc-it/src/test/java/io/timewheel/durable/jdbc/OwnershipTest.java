// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static io.timewheel.durable.jdbc.Fixture.NOW;
import static io.timewheel.durable.jdbc.Fixture.key;
import static io.timewheel.durable.jdbc.Fixture.schedule;
import static io.timewheel.durable.jdbc.Fixture.success;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.Outcome.Answer;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.testing.Await;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Verifies that a shard has one owner at a time: balance, drains, expired node leases, stalled
 * renewals, and the fence before a commit.
 */
@Tag("promise-53")
class OwnershipTest {
  private final Fixture fixture = new Fixture(Server.of(this));

  @AfterEach
  void close() {
    fixture.close();
  }

  private static void balance(Fixture.Node... nodes) {
    for (Fixture.Node node : nodes) {
      node.ownership().balance();
    }
  }

  // Shares

  @Test
  void givesThreeNodesTheirFairShares() {
    try (Fixture wide = Fixture.withoutTables(Server.of(this))) {
      Fixture.Node first = wide.open(wide.pool, 64);
      first.store.start(first);
      assertThat(first.epochs).hasSize(64);
      Fixture.Node second = wide.start();
      Fixture.Node third = wide.start();
      for (int round = 0; round < 3; round++) {
        balance(first, second, third);
      }
      List<Integer> all = new ArrayList<>();
      for (Fixture.Node node : List.of(first, second, third)) {
        assertThat(node.epochs.size()).isBetween(20, 22);
        all.addAll(node.epochs.keySet());
      }
      assertThat(all).doesNotHaveDuplicates().hasSize(64);
    }
  }

  @Test
  void aClientTakesNoShardsAndNoShare() {
    Fixture.Node first = fixture.start();
    Fixture.Node client = fixture.open();
    client.client = true;
    client.store.start(client);
    balance(first, client, first);
    assertThat(first.epochs).hasSize(4);
    assertThat(client.epochs).isEmpty();
    assertThat(client.store.membership().nodes())
        .extracting(Membership.Node::client)
        .containsExactly(false, true);
  }

  @Test
  void eachNodeReadsTheHandlersOfAllLiveNodes() throws SQLException {
    Fixture.Node first = fixture.open();
    first.handlers = new HandlerNames(Set.of("a", "ä b"), Set.of());
    first.store.start(first);
    assertThat(first.known).containsExactly(first.handlers);
    Fixture.Node second = fixture.open();
    second.handlers = new HandlerNames(Set.of("b"), Set.of("webhook:"));
    second.onAcquired = () -> assertThat(second.known).isNotEmpty();
    second.store.start(second);
    HandlerNames both = new HandlerNames(Set.of("a", "ä b", "b"), Set.of("webhook:"));
    assertThat(second.known).containsExactly(both);
    balance(first, first);
    assertThat(first.known).containsExactly(first.handlers, both);
    assertThat(first.store.membership().nodes())
        .extracting(Membership.Node::handlers)
        .containsExactly(first.handlers, second.handlers);
    second.store.close();
    balance(first);
    assertThat(first.known).containsExactly(first.handlers, both, first.handlers);
    fixture.expireLeases();
    Fixture.Node third = fixture.start();
    assertThat(third.known).containsExactly(HandlerNames.NONE);
  }

  @Test
  void givesAShardAwayWhenNoneOfItsAttemptsRuns() {
    Fixture.Node first = fixture.start();
    first.drained = new CompletableFuture<>();
    Fixture.Node second = fixture.start();
    balance(first, second);
    assertThat(first.told).endsWith("releasing 0", "releasing 1");
    assertThat(second.epochs).isEmpty();
    first.drained.complete(null);
    first.ownership().give();
    assertThat(first.told).endsWith("lost 0", "lost 1");
    balance(second);
    assertThat(second.epochs.keySet()).isEqualTo(Set.of(0, 1));
  }

  @Test
  void limitsTheWaitForADrain() {
    Fixture.Node first = fixture.start();
    first.drained = new CompletableFuture<>();
    Fixture.Node second = fixture.start();
    balance(first);
    first.clock.advanceMillis(8_000);
    first.ownership().renew();
    first.clock.advanceMillis(2_001);
    balance(first, second);
    assertThat(first.epochs.keySet()).isEqualTo(Set.of(2, 3));
    assertThat(second.epochs.keySet()).isEqualTo(Set.of(0, 1));
  }

  @Test
  void leavesItsShardsToOthersAtOnce() {
    Fixture.Node first = fixture.start();
    Fixture.Node second = fixture.start();
    first.store.close();
    balance(second);
    assertThat(second.epochs).hasSize(4);
  }

  // Takeover

  @Test
  void takesOverOnlyShardsWhoseNodeLeaseHasExpired() throws SQLException {
    Fixture.Node first = fixture.start();
    Fixture.Node second = fixture.start();
    balance(second);
    assertThat(second.epochs).isEmpty();
    fixture.expireLeases();
    second.ownership().renew(); // joins again as another node
    balance(second);
    assertThat(second.epochs).hasSize(4);
    second.epochs.forEach(
        (shard, epoch) -> assertThat(epoch).isGreaterThan(first.epochs.get(shard)));
  }

  @Test
  @Tag("promise-54")
  void refusesTheCommitsOfAZombie() throws SQLException {
    Fixture.Node zombie = fixture.start();
    zombie.commit(schedule("begun", NOW));
    zombie.commit(schedule("not", NOW));
    Change.Begin begun = zombie.begin("begun");
    Change.Begin notBegun = zombie.begin("not");
    zombie.commit(begun);
    Fixture.Node other = fixture.start();
    fixture.expireLeases();
    other.ownership().renew();
    balance(other);
    assertThat(zombie.ownership().owned()).as("it still assumes that it owns them").hasSize(4);
    assertThat(
            zombie.store.commit(List.of(success(begun), notBegun, schedule("third", NOW))).stream()
                .map(outcome -> outcome.answer())
                .toList())
        .containsExactly(Answer.STALE_OWNER, Answer.STALE_OWNER, Answer.CREATED);
    assertThat(zombie.store.get(key("begun")).state()).isEqualTo(TimerState.RUNNING);
    assertThat(zombie.store.get(key("not")).state()).isEqualTo(TimerState.SCHEDULED);
    Change.Begin takeOver = other.begin("begun");
    assertThat(other.commit(takeOver).answer()).isEqualTo(Answer.APPLIED);
    zombie.ownership().renew();
    assertThat(zombie.told).endsWith("lost 0", "lost 1", "lost 2", "lost 3");
  }

  @Test
  void aCommitThatHoldsTheFenceKeepsTheShardUntilItEnds() throws SQLException {
    Fixture.Node first = fixture.start();
    Fixture.Node second = fixture.start();
    fixture.expireLeases();
    second.ownership().renew();
    try (Connection commit = fixture.transaction();
        Statement statement = commit.createStatement()) {
      String share = second.store.server().expressions().forShare();
      statement.execute("SELECT epoch FROM timewheel_shard WHERE shard = 2 " + share);
      balance(second);
      assertThat(second.epochs.keySet()).isEqualTo(Set.of(0, 1, 3));
      commit.rollback();
    }
    balance(second);
    assertThat(second.epochs).hasSize(4);
    assertThat(first.epochs).hasSize(4);
  }

  /** A process that is suspended between the fence and its COMMIT holds the locks of the fence. */
  @Test
  @Timeout(300)
  @Tag("promise-54")
  void aCommitThatStallsAfterTheFenceIsEndedAndChangesNothing() throws Exception {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node suspended = fixture.open(source, 4);
    suspended.store.start(suspended);
    suspended.commit(schedule("a", NOW));
    Change.Begin claim = suspended.begin("a");
    suspended.commit(claim);
    source.fates.add(LossySource.Fate.HELD);
    CompletableFuture<Outcome> end =
        CompletableFuture.supplyAsync(() -> suspended.commit(success(claim)));
    source.held.acquire();
    fixture.expireLeases();
    Fixture.Node other = fixture.start();
    while (other.epochs.size() < 4) {
      other.ownership().renew();
      balance(other);
    }
    source.goOn.release();
    assertThat(end.join().answer()).isEqualTo(Answer.STALE_OWNER);
    assertThat(other.store.get(key("a")))
        .returns(TimerState.RUNNING, TimerRecord::state)
        .returns(1, TimerRecord::attempt);
    assertThat(other.commit(other.begin("a")).answer()).isEqualTo(Answer.APPLIED);
  }

  @Test
  void aRenewalThatIsUnderWayKeepsTheShards() throws SQLException {
    fixture.start();
    Fixture.Node second = fixture.start();
    fixture.expireLeases();
    second.ownership().renew();
    try (Connection renewal = fixture.transaction();
        Statement statement = renewal.createStatement()) {
      statement.execute("UPDATE timewheel_node SET lease_until = lease_until + 60000");
      second.ownership().balance();
      renewal.commit();
    }
    balance(second);
    assertThat(second.epochs).isEmpty();
  }

  @Test
  @Timeout(300)
  void aRenewalThatWaitedIsEvaluatedAtTheTimeAfterTheWait() throws SQLException {
    Fixture.Node node = fixture.start();
    String now = node.store.server().expressions().nowMillis();
    try (Connection holder = fixture.transaction();
        Statement statement = holder.createStatement()) {
      fixture.execute("UPDATE timewheel_node SET lease_until = " + now + " + 300");
      statement.execute(
          "SELECT lease_until FROM timewheel_node " + node.store.server().expressions().forShare());
      CompletableFuture<Void> renewal = CompletableFuture.runAsync(node.ownership()::renew);
      String alive = "SELECT count(*) FROM timewheel_node WHERE lease_until > " + now;
      Await.until(() -> fixture.number(alive) == 0);
      holder.rollback();
      try {
        renewal.join();
      } catch (CompletionException e) { // the lock timeout; the renewal is repeated
        node.ownership().renew();
      }
    }
    assertThat(node.told).endsWith("lost 0", "lost 1", "lost 2", "lost 3");
  }

  @Test
  @Timeout(300)
  @Tag("promise-54")
  void aRenewalThatStallsIsEnded() throws Exception {
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node suspended = fixture.open(source, 4);
    suspended.store.start(suspended);
    source.fates.add(LossySource.Fate.HELD);
    CompletableFuture<Void> renewal = CompletableFuture.runAsync(suspended.ownership()::renew);
    source.held.acquire();
    fixture.expireLeases(); // waits for the lock on the node's row
    Fixture.Node other = fixture.start();
    balance(other);
    assertThat(other.epochs).hasSize(4);
    source.goOn.release();
    renewal.join();
    assertThat(suspended.epochs).isEmpty();
  }

  @Test
  void takesItsWholeShareAlthoughThatTakesLongerThanARenewal() {
    Fixture.Node node = fixture.open();
    node.onAcquired = () -> node.clock.advanceMillis(3_000);
    node.store.start(node);
    assertThat(node.epochs).hasSize(4);
    assertThat(node.ownership().leaseLeftNanos()).isPositive();
  }

  @Test
  void requestsNoMoreShardsWhileThereIsNoDatabase() throws SQLException {
    Fixture.Node first = fixture.start();
    LossySource source = new LossySource(fixture.pool);
    Fixture.Node second = fixture.open(source, 4);
    second.store.start(second);
    first.store.close();
    source.connections = 1; // to read the owners of shards
    balance(second);
    assertThat(source.refused).isOne();
    source.connections = Integer.MAX_VALUE;
    balance(second);
    assertThat(second.epochs).hasSize(4);
  }

  // The node lease

  @Test
  void stopsBeforeItsNodeLeaseExpires() {
    Fixture.Node node = fixture.start();
    node.clock.advanceMillis(8_999);
    node.ownership().watch();
    assertThat(node.epochs).hasSize(4);
    node.clock.advanceMillis(1);
    node.ownership().watch();
    assertThat(node.epochs).isEmpty();
  }

  @Test
  void stopsEvenIfOnlyOneOfItsClocksAdvanced() {
    Fixture.Node suspended = fixture.start();
    suspended.clock.aheadMillis += 9_000;
    suspended.ownership().watch();
    assertThat(suspended.epochs).isEmpty();
    fixture.close();
  }

  @Test
  void stopsEvenIfTheWallClockWentBack() {
    Fixture.Node node = fixture.start();
    node.clock.aheadMillis -= 3_600_000;
    node.clock.aheadNanos += 9_000_000_000L;
    node.ownership().watch();
    assertThat(node.epochs).isEmpty();
  }

  @Test
  void returnsWithNewEpochsIfItStoppedInTime() {
    Fixture.Node node = fixture.start();
    long before = node.epochs.get(0);
    node.clock.advanceMillis(9_500);
    node.ownership().watch();
    node.ownership().renew();
    balance(node);
    assertThat(node.epochs.get(0)).isGreaterThan(before);
  }

  @Test
  void countsFromBeforeTheRenewalWasSent() throws SQLException {
    Fixture.Node node = fixture.start();
    node.clock.advanceMillis(5_000);
    node.ownership().renew();
    assertThat(node.ownership().leaseLeftNanos()).isEqualTo(9_000_000_000L);
    assertThat(fixture.number("SELECT count(*) FROM timewheel_node")).isEqualTo(1);
  }

  @Test
  void removesNodesThatWereLostLongAgoAndOwnNoShards() throws SQLException {
    fixture.start();
    Fixture.Node second = fixture.start();
    fixture.execute("UPDATE timewheel_node SET lease_until = 0");
    second.ownership().renew(); // joins again as another node
    assertThat(fixture.number("SELECT count(*) FROM timewheel_node")).isEqualTo(2);
    assertThat(
            fixture.number(
                "SELECT count(*) FROM timewheel_node JOIN timewheel_shard ON owner = node"))
        .isEqualTo(4);
  }

  @Test
  @Tag("promise-55")
  void tracksTheTimeOfTheDatabase() throws SQLException {
    Fixture.Node node = fixture.open();
    node.clock.aheadMillis = 3_600_000;
    assertThat(node.store.clockOffsetMillis()).as("before the start").isNegative();
    node.store.start(node);
    long database = fixture.number("SELECT " + node.store.server().expressions().nowMillis());
    assertThat(node.clock.millis() + node.store.clockOffsetMillis())
        .isCloseTo(database, within(60_000L));
    long offset = node.store.clockOffsetMillis();
    node.clock.aheadMillis -= 1_800_000; // a jump since the last renewal
    assertThat(node.store.clockOffsetMillis()).isEqualTo(offset + 1_800_000);
  }
}
