// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.nio.file.Path;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Says what went wrong, where, and what is known about it. */
final class Failures {
  private final Path directory;

  Failures(Path directory) {
    this.directory = directory;
  }

  StoreException of(Kind kind, String what) {
    return new StoreException(kind, directory + ": " + what, null);
  }

  StoreException of(Kind kind, String what, Throwable cause) {
    return new StoreException(kind, directory + ": " + what + ": " + cause.getMessage(), cause);
  }

  /** A read or a step of maintenance that failed: nothing was done. */
  StoreException reading(String what, RocksDBException cause) {
    Status status = cause.getStatus();
    boolean passes =
        status != null
            && switch (status.getCode()) {
              case TimedOut, Busy, TryAgain, Incomplete, Aborted -> true;
              default -> false;
            };
    return of(passes ? Kind.TRANSIENT : Kind.UNAVAILABLE, what, cause);
  }

  static boolean isLocked(RocksDBException cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains("lock hold by current process") || message.contains("While lock file");
  }
}
