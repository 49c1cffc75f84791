// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.time.Duration;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/** The nodes of the store and the shards that they fire; of an embedded store, this one has all. */
final class ClusterView {
  private final Node node;

  ClusterView(Node node) {
    this.node = node;
  }

  byte[] json() {
    return Json.bytes(this::write);
  }

  private void write(JsonGenerator json) {
    WatchedStore store = node.store();
    Map<Integer, Long> epochs = store == null ? Map.of() : store.epochs();
    int shards = store == null ? 0 : store.traits().shards();
    json.writeStartObject();
    if (store != null) {
      json.writeStringProperty("store", store.name());
    }
    json.writeBooleanProperty("shared", false);
    json.writeArrayPropertyStart("nodes");
    json.writeStartObject();
    json.writeStringProperty("id", Node.ID);
    json.writeBooleanProperty("self", true);
    json.writeStringProperty("address", node.address());
    String version = Node.version();
    if (version != null) {
      json.writeStringProperty("version", version);
    }
    json.writeStringProperty("startedAt", node.startedAt().toString());
    if (store != null) {
      Duration offset = Duration.ofMillis(store.clockOffsetMillis());
      json.writeStringProperty("clockOffset", offset.toString());
    }
    json.writeBooleanProperty("alive", true);
    json.writeArrayPropertyStart("shards");
    epochs.keySet().stream().sorted().forEach(json::writeNumber);
    json.writeEndArray();
    json.writeEndObject();
    json.writeEndArray();
    json.writeArrayPropertyStart("shards");
    for (int shard = 0; shard < shards; shard++) {
      json.writeStartObject();
      json.writeNumberProperty("shard", shard);
      Long epoch = epochs.get(shard);
      if (epoch != null) {
        json.writeStringProperty("owner", Node.ID);
        json.writeNumberProperty("epoch", epoch);
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
