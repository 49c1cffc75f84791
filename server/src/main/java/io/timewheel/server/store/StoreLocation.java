// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The place of the timers of a server.
 *
 * @param data the directory, unless there is a database
 * @param database the database that nodes share; null for the directory
 */
public record StoreLocation(Path data, @Nullable SharedDatabase database) {
  /** {@return the kind of store, for people} */
  public String kind() {
    return database == null ? "rocksdb" : database.kind();
  }

  /** {@return the name of the place, for people} */
  public String name() {
    return database == null ? data.toString() : database.name();
  }

  /** {@return the number of requests that may read the store at a time} */
  public int readsAtATime() {
    return database == null ? Integer.MAX_VALUE : SharedDatabase.READS;
  }

  /**
   * Opens the store.
   *
   * @throws IOException if the password of the database cannot be read
   */
  public TimerStore open() throws IOException {
    return database == null ? RocksTimerStore.open(data) : database.open();
  }
}
