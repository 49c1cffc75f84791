// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.ClusterAnswer;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.Membership;
import io.timewheel.durable.spi.record.HandlerNames;
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
 * Describes the nodes of the store and the shards that they own. A shared store returns them. With
 * an embedded store, this node owns all shards.
 */
public final class ClusterView {
  /**
   * The maximum number of nodes. With IDs of up to 300 bytes each, and the IDs of the owners of
   * 1,024 shards, they take about 2 MB.
   */
  private static final int MAX_NODES = 1_000;

  /** The maximum number of characters of all names of handlers, of up to 3 bytes each. */
  private static final int MAX_HANDLER_CHARS = 600_000;

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
    return answer(store == null ? null : store.name(), shared != null, members);
  }

  /** {@return the members; nodes and names of handlers beyond the limits are left out} */
  ClusterAnswer answer(@Nullable String store, boolean shared, Membership members) {
    List<Membership.Node> shown = shown(members.nodes());
    List<ClusterAnswer.Node> nodes = new ArrayList<>();
    boolean truncated = shown.size() < members.nodes().size();
    int room = MAX_HANDLER_CHARS;
    for (Membership.Node each : shown) {
      List<String> handlers = new ArrayList<>();
      for (String name : handlers(each)) {
        room -= name.length() + 1;
        if (room < 0) {
          truncated = true;
          break;
        }
        handlers.add(name);
      }
      nodes.add(node(each, handlers, members.shards(), shared));
    }
    List<ClusterAnswer.Shard> shards = members.shards().stream().map(ClusterView::shard).toList();
    return new ClusterAnswer(store, shared, truncated, nodes, shards);
  }

  /** Leaves out the nodes that were lost first, and then the nodes that are last in the list. */
  private static List<Membership.Node> shown(List<Membership.Node> nodes) {
    List<Membership.Node> shown = new ArrayList<>();
    int excess = nodes.size() - MAX_NODES;
    for (Membership.Node node : nodes) {
      if (excess > 0 && !node.alive() && !node.self()) {
        excess--;
      } else {
        shown.add(node);
      }
    }
    return shown.subList(0, Math.min(MAX_NODES, shown.size()));
  }

  private static List<String> handlers(Membership.Node node) {
    List<String> handlers = new ArrayList<>(new TreeSet<>(node.handlers().names()));
    new TreeSet<>(node.handlers().prefixes()).forEach(prefix -> handlers.add(prefix + "*"));
    return handlers;
  }

  /** {@return the store itself, if nodes share it; null if it is embedded, or not open yet} */
  public @Nullable JdbcTimerStore shared() {
    WatchedStore store = node.store();
    return store == null ? null : store.shared();
  }

  /**
   * Reads the members, one request at a time: each read takes one of the connections that the node
   * needs for its own work.
   */
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
      Membership.Node each, List<String> handlers, List<Membership.Shard> shards, boolean shared) {
    boolean self = each.self(); // other nodes do not report it
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
