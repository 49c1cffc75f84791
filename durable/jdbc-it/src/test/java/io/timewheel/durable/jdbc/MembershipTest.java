// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.jdbc.internal.ownership.Epoch;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MembershipTest {
  private final Fixture fixture = new Fixture(Server.of(this));

  @AfterEach
  void close() {
    fixture.close();
  }

  @Test
  void everyNodeSeesAllNodesAndTheirShards() throws SQLException {
    Fixture.Node first = fixture.start();
    Fixture.Node second = fixture.start();
    for (int round = 0; round < 2; round++) {
      first.ownership().balance();
      second.ownership().balance();
    }
    Membership seen = second.store.membership();
    assertThat(seen.nodes())
        .extracting(Membership.Node::id)
        .containsExactly(first.store.nodeId(), second.store.nodeId());
    assertThat(seen.nodes()).extracting(Membership.Node::self).containsExactly(false, true);
    assertThat(seen.nodes()).allMatch(Membership.Node::alive);
    long leaseUntil =
        fixture.number("SELECT lease_until FROM timewheel_node ORDER BY node LIMIT 1");
    assertThat(seen.nodes().get(0).leaseUntil()).isEqualTo(Instant.ofEpochMilli(leaseUntil));
    assertThat(seen.shards()).extracting(Membership.Shard::shard).containsExactly(0, 1, 2, 3);
    assertThat(epochs(seen, first)).hasSize(2).isEqualTo(counts(first.epochs));
    assertThat(epochs(seen, second)).hasSize(2).isEqualTo(counts(second.epochs));
  }

  @Test
  void aLostNodeIsListedWithItsShards() throws SQLException {
    Fixture.Node first = fixture.start();
    Fixture.Node asked = fixture.open();
    fixture.expireLeases();
    Membership seen = asked.store.membership();
    assertThat(seen.nodes()).hasSize(1).noneMatch(Membership.Node::alive);
    assertThat(seen.nodes()).noneMatch(Membership.Node::self);
    assertThat(epochs(seen, first)).hasSize(4);
  }

  @Test
  void aNodeThatLeftIsRemovedAndItsShardsAreFree() {
    Fixture.Node first = fixture.start();
    Fixture.Node asked = fixture.open();
    first.store.close();
    Membership seen = asked.store.membership();
    assertThat(seen.nodes()).isEmpty();
    assertThat(seen.shards()).hasSize(4).allMatch(shard -> shard.owner() == null);
  }

  @Test
  void aNameIsPartOfTheId() {
    try (JdbcTimerStore store = fixture.builder(fixture.pool).node("db-client").open()) {
      assertThat(store.nodeId()).isEqualTo("db-client");
      Fixture.Node engine = fixture.open();
      store.start(engine);
      assertThat(store.nodeId()).matches("db-client#\\d+");
      assertThat(store.membership().nodes())
          .extracting(Membership.Node::id)
          .containsExactly(store.nodeId());
    }
  }

  private static Map<Integer, Long> counts(Map<Integer, Long> epochs) {
    Map<Integer, Long> counts = new HashMap<>(epochs);
    counts.replaceAll((shard, epoch) -> Epoch.count(epoch));
    return counts;
  }

  private static Map<Integer, Long> epochs(Membership seen, Fixture.Node owner) {
    Map<Integer, Long> epochs = new HashMap<>();
    for (Membership.Shard shard : seen.shards()) {
      if (owner.store.nodeId().equals(shard.owner())) {
        epochs.put(shard.shard(), shard.epoch());
      }
    }
    return epochs;
  }
}
