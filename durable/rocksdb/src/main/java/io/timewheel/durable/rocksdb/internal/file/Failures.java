// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.format.MalformedException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Creates exceptions and log messages with the directory, the operation and the reason. */
public final class Failures {
  private static final Pattern TABLE = Pattern.compile("\\d\\.(sst|blob)\\b");
  private static final Pattern BLAMES_MANIFEST =
      Pattern.compile("\\s*The file \\S*MANIFEST\\S* may be corrupted\\.?");

  /** The logger of all classes of the store. */
  public static final System.Logger LOG =
      System.getLogger("io.timewheel.durable.rocksdb.RocksTimerStore");

  private final Path directory;
  private final AtomicLong damagedReads = new AtomicLong();

  public Failures(Path directory) {
    this.directory = directory;
  }

  public Path directory() {
    return directory;
  }

  public StoreException of(Kind kind, String what) {
    return new StoreException(kind, directory + ": " + what, null);
  }

  public StoreException of(Kind kind, String what, Throwable cause) {
    return new StoreException(kind, directory + ": " + what + ": " + reason(cause), cause);
  }

  /**
   * Returns the reason as text. The message of some file exceptions is only the name of the file.
   */
  public static String reason(Throwable cause) {
    if (cause instanceof FileSystemException e && e.getReason() == null) {
      String what =
          e instanceof AccessDeniedException
              ? "permission denied"
              : e.getClass().getSimpleName().replace("Exception", "");
      return e.getFile() + ": " + what;
    }
    String message = String.valueOf(cause.getMessage());
    // RocksDB names the manifest for every file that it cannot read.
    return TABLE.matcher(message).find()
        ? BLAMES_MANIFEST.matcher(message).replaceFirst("")
        : message;
  }

  /**
   * Returns the exception for a failed read or a failed maintenance step, which has changed
   * nothing.
   */
  public StoreException reading(String what, RocksDBException cause) {
    if (isDamage(cause)) {
      damaged(what, cause);
    }
    Status status = cause.getStatus();
    boolean passes =
        status != null
            && switch (status.getCode()) {
              case TimedOut, Busy, TryAgain, Incomplete, Aborted -> true;
              default -> false;
            };
    return of(passes ? Kind.TRANSIENT : Kind.UNAVAILABLE, what, cause);
  }

  /**
   * Returns the exception for a failed lookup of a timer. Damage concerns only this timer, so a
   * caller that looked up several timers can look up the others again.
   */
  public StoreException lookup(String what, RocksDBException cause) {
    if (!isDamage(cause)) {
      return reading(what, cause);
    }
    damaged(what, cause);
    return of(Kind.REJECTED, what, cause);
  }

  /** Returns the exception for a malformed record. */
  public StoreException lookup(TimerKey key, MalformedException cause) {
    String what = "the record of " + key + " cannot be read";
    damaged(what, cause);
    return of(Kind.REJECTED, what, cause);
  }

  public static boolean isDamage(RocksDBException cause) {
    Status status = cause.getStatus();
    return status != null && status.getCode() == Status.Code.Corruption;
  }

  /** Counts a read that has met damage, and logs the first one. */
  public void damaged(String what, Exception cause) {
    if (damagedReads.getAndIncrement() == 0) {
      LOG.log(
          System.Logger.Level.ERROR,
          directory
              + ": the store is damaged: "
              + what
              + ": "
              + reason(cause)
              + "; further reads that meet damage are counted in its figures, and verify() lists"
              + " the damage");
    }
  }

  public long damagedReads() {
    return damagedReads.get();
  }

  /** Ends long work if a close or a repair waits for it. */
  public void checkGoesOn(Database database) {
    if (database.isLongWorkToEnd()) {
      throw of(Kind.UNAVAILABLE, "interrupted: the database was closed, or opened again");
    }
  }

  static boolean isLocked(RocksDBException cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains("lock hold by current process") || message.contains("While lock file");
  }
}
