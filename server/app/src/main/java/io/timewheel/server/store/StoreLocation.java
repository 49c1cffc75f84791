// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The location of the timers of a server: a database that nodes share, or else a directory. */
public record StoreLocation(Path data, @Nullable SharedDatabase database) {
  private static final Logger LOG = LoggerFactory.getLogger(StoreLocation.class);

  /** {@return the kind of store, for people} */
  public String kind() {
    return database == null ? "rocksdb" : database.kind();
  }

  /** {@return the name of the location, for people} */
  public String name() {
    return database == null ? data.toString() : database.name();
  }

  /** {@return the number of requests that may read the store at a time} */
  public int readsAtATime() {
    return database == null ? Integer.MAX_VALUE : SharedDatabase.READS;
  }

  /**
   * Opens the store. Removes the permissions of other users on the directory.
   *
   * @throws IOException if the password of the database cannot be read
   */
  public TimerStore open() throws IOException {
    if (database != null) {
      return database.open();
    }
    restrict();
    return RocksTimerStore.open(data);
  }

  private void restrict() {
    try {
      int restricted = Files.isDirectory(data) ? RocksTimerStore.restrict(data) : 0;
      if (restricted > 0) {
        LOG.warn(
            "{}: removed the permissions of other users on {} files or directories",
            data,
            restricted);
      }
    } catch (IOException e) {
      LOG.warn("{}: other users may be able to read the timers (expected: chmod 700)", data, e);
    }
  }
}
