// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/**
 * The store of H2 without SQL: a map by ID, a map by time, and a commit and a sync for each batch.
 */
final class MvStoreFloor implements Subject {
  private final MVStore store;
  private final MVMap<String, byte[]> byId;
  private final MVMap<String, Boolean> byTime;

  MvStoreFloor(Path directory) {
    store =
        new MVStore.Builder()
            .fileName(directory.resolve("timers.mv").toString())
            .autoCommitDisabled()
            .open();
    byId = store.openMap("id");
    byTime = store.openMap("time");
  }

  @Override
  public synchronized void schedule(List<Order> orders) {
    for (Order order : orders) {
      byte[] payload = order.payloadBytes();
      byte[] value =
          ByteBuffer.allocate(Long.BYTES + payload.length)
              .putLong(order.dueMillis())
              .put(payload)
              .array();
      byId.put(order.id(), value);
      byTime.put(String.format("%016x", order.dueMillis()) + order.id(), true);
    }
    store.commit();
    store.sync();
  }

  @Override
  public void close() {
    store.close();
  }
}
