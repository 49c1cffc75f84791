// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.ClusterAnswer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.Membership;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.WatchedStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of the store and the shards that they fire. A shared store is asked for them; of an
 * embedded store, this node has all.
 */
public final class ClusterView {
  private final Node node;

  public ClusterView(Node node) {
    this.node = node;
  }

  /**
   * {@return the nodes and shards}
   *
   * @throws io.timewheel.durable.spi.StoreException if a shared store does not answer
   */
  public ClusterAnswer answer() {
    WatchedStore store = node.store();
    JdbcTimerStore shared = shared();
    Membership members = shared == null ? alone(store) : members(shared);
    return new ClusterAnswer(
        store == null ? null : store.name(),
        shared != null,
        members.nodes().stream().map(each -> node(each, members.shards(), shared != null)).toList(),
        members.shards().stream().map(ClusterView::shard).toList());
  }

  /** {@return the store itself, if nodes share it; null if it is embedded, or not there yet} */
  public @Nullable JdbcTimerStore shared() {
    WatchedStore store = node.store();
    return store == null ? null : store.shared();
  }

  /** One at a time: it takes a connection of those that the node lives by. */
  private synchronized Membership members(JdbcTimerStore shared) {
    return shared.membership();
  }

  private Membership alone(@Nullable WatchedStore store) {
    List<Membership.Shard> shards = new ArrayList<>();
    Map<Integer, Long> epochs = store == null ? Map.of() : store.epochs();
    int count = store == null ? 0 : store.traits().shards();
    for (int shard = 0; shard < count; shard++) {
      Long epoch = epochs.get(shard);
      shards.add(
          epoch == null
              ? new Membership.Shard(shard, null, 0)
              : new Membership.Shard(shard, node.id(), epoch));
    }
    Duration offset = Duration.ofMillis(store == null ? 0 : store.clockOffsetMillis());
    HandlerNames handlers = store == null ? HandlerNames.NONE : store.handlers();
    Membership.Node self =
        new Membership.Node(node.id(), true, true, Instant.MAX, offset, false, handlers);
    return new Membership(List.of(self), shards);
  }

  private ClusterAnswer.Node node(
      Membership.Node each, List<Membership.Shard> shards, boolean shared) {
    List<String> handlers = new ArrayList<>(new TreeSet<>(each.handlers().names()));
    new TreeSet<>(each.handlers().prefixes()).forEach(prefix -> handlers.add(prefix + "*"));
    boolean self = each.self(); // the others do not tell
    return new ClusterAnswer.Node(
        each.id(),
        self,
        self ? node.address() : null,
        self ? Node.version() : null,
        self ? node.startedAt() : null,
        shared ? each.leaseUntil() : null,
        each.clockOffset(),
        each.alive(),
        each.client(),
        handlers,
        shards.stream()
            .filter(shard -> each.id().equals(shard.owner()))
            .map(Membership.Shard::shard)
            .toList());
  }

  private static ClusterAnswer.Shard shard(Membership.Shard shard) {
    return new ClusterAnswer.Shard(
        shard.shard(), shard.owner(), shard.epoch() > 0 ? shard.epoch() : null);
  }
}
