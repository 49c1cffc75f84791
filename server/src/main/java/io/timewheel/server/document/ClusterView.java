// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.Membership;
import io.timewheel.durable.spi.HandlerNames;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.WatchedStore;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

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
  public byte[] json() {
    WatchedStore store = node.store();
    JdbcTimerStore shared = shared();
    Membership members = shared == null ? alone(store) : members(shared);
    return Json.bytes(json -> write(json, store, members, shared != null));
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

  private void write(
      JsonGenerator json, @Nullable WatchedStore store, Membership members, boolean shared) {
    json.writeStartObject();
    if (store != null) {
      json.writeStringProperty("store", store.name());
    }
    json.writeBooleanProperty("shared", shared);
    json.writeArrayPropertyStart("nodes");
    for (Membership.Node each : members.nodes()) {
      node(json, each, members.shards(), shared);
    }
    json.writeEndArray();
    json.writeArrayPropertyStart("shards");
    for (Membership.Shard shard : members.shards()) {
      json.writeStartObject();
      json.writeNumberProperty("shard", shard.shard());
      if (shard.owner() != null) {
        json.writeStringProperty("owner", shard.owner());
      }
      if (shard.epoch() > 0) {
        json.writeNumberProperty("epoch", shard.epoch());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private void node(
      JsonGenerator json, Membership.Node each, List<Membership.Shard> shards, boolean shared) {
    json.writeStartObject();
    json.writeStringProperty("id", each.id());
    json.writeBooleanProperty("self", each.self());
    if (each.self()) { // the others do not tell
      json.writeStringProperty("address", node.address());
      String version = Node.version();
      if (version != null) {
        json.writeStringProperty("version", version);
      }
      json.writeStringProperty("startedAt", node.startedAt().toString());
    }
    if (shared) {
      json.writeStringProperty("leaseUntil", each.leaseUntil().toString());
    }
    json.writeStringProperty("clockOffset", each.clockOffset().toString());
    json.writeBooleanProperty("alive", each.alive());
    json.writeBooleanProperty("client", each.client());
    json.writeArrayPropertyStart("handlers");
    for (String name : new TreeSet<>(each.handlers().names())) {
      json.writeString(name);
    }
    for (String prefix : new TreeSet<>(each.handlers().prefixes())) {
      json.writeString(prefix + "*");
    }
    json.writeEndArray();
    json.writeArrayPropertyStart("shards");
    for (Membership.Shard shard : shards) {
      if (each.id().equals(shard.owner())) {
        json.writeNumber(shard.shard());
      }
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
