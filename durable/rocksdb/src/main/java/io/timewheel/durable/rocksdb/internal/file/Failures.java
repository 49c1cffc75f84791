// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.format.MalformedException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** Says what went wrong, where, and what is known about it. */
public final class Failures {
  private static final Pattern TABLE = Pattern.compile("\\d\\.(sst|blob)\\b");
  private static final Pattern BLAMES_MANIFEST =
      Pattern.compile("\\s*The file \\S*MANIFEST\\S* may be corrupted\\.?");

  /** The logger of the whole store. */
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

  /** Why, in words: some exceptions of files have but the name of the file for a message. */
  public static String reason(Throwable cause) {
    if (cause instanceof FileSystemException e && e.getReason() == null) {
      String what =
          e instanceof AccessDeniedException
              ? "permission denied"
              : e.getClass().getSimpleName().replace("Exception", "");
      return e.getFile() + ": " + what;
    }
    String message = String.valueOf(cause.getMessage());
    // RocksDB names the manifest whatever file it was that it could not read.
    return TABLE.matcher(message).find()
        ? BLAMES_MANIFEST.matcher(message).replaceFirst("")
        : message;
  }

  /** A read or a step of maintenance that failed: nothing was done. */
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
   * The lookup of a timer that failed. Damage is a matter of this timer alone: whoever has asked
   * for several asks for the others again.
   */
  public StoreException lookup(String what, RocksDBException cause) {
    if (!isDamage(cause)) {
      return reading(what, cause);
    }
    damaged(what, cause);
    return of(Kind.REJECTED, what, cause);
  }

  /** A record that is not one. */
  public StoreException lookup(TimerKey key, MalformedException cause) {
    String what = "the record of " + key + " cannot be read";
    damaged(what, cause);
    return of(Kind.REJECTED, what, cause);
  }

  private static boolean isDamage(RocksDBException cause) {
    Status status = cause.getStatus();
    return status != null && status.getCode() == Status.Code.Corruption;
  }

  /** A read has met damage: it is counted, and the first is told. */
  public void damaged(String what, Exception cause) {
    if (damagedReads.getAndIncrement() == 0) {
      LOG.log(
          System.Logger.Level.ERROR,
          directory
              + ": the store is damaged: "
              + what
              + ": "
              + reason(cause)
              + "; further reads that meet damage are counted in its figures, and verify() names"
              + " what is damaged");
    }
  }

  public long damagedReads() {
    return damagedReads.get();
  }

  /** Ends long work when others wait for that. */
  public void checkGoesOn(Database database) {
    if (database.isLongWorkToEnd()) {
      throw of(Kind.UNAVAILABLE, "broken off: the database is closed, or opened again");
    }
  }

  static boolean isLocked(RocksDBException cause) {
    String message = String.valueOf(cause.getMessage());
    return message.contains("lock hold by current process") || message.contains("While lock file");
  }
}
