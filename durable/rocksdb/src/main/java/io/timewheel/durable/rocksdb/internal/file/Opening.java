// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import io.timewheel.durable.spi.format.MalformedException;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Opens a directory, or throws with the reason. All checks come before the first write of RocksDB,
 * so that it writes nothing into a directory that is not a store.
 */
public final class Opening {
  public static final int FORMAT = 4;

  private static final System.Logger LOG = Failures.LOG;
  private static final String IN_USE = "is in use by another store, of this process or another one";

  /** Matches the files that RocksDB creates before CURRENT, and those of a new file system. */
  private static final Pattern HARMLESS =
      Pattern.compile(
          "LOG(\\.old\\..*)?|LOCK|OWNER|IDENTITY|MANIFEST-.*|OPTIONS-.*|.*\\.dbtmp|.*\\.log|lost\\+found");

  /** The families that a repair drops and rebuilds from the records. */
  private static final Set<String> INDEXES =
      Family.INDEXES.stream()
          .map(family -> new String(family.bytes(), UTF_8))
          .collect(Collectors.toUnmodifiableSet());

  private final Path directory;
  private final Settings settings;
  private final Failures failures;

  public Opening(Path directory, Settings settings, Failures failures) {
    this.directory = directory;
    this.settings = settings;
    this.failures = failures;
  }

  public Database open() {
    checkDirectory();
    try {
      NativeLibrary.load();
    } catch (RuntimeException | LinkageError e) {
      throw failures.of(Kind.UNAVAILABLE, "the native library of RocksDB cannot be loaded", e);
    }
    DirectoryLock lock = lock();
    try {
      Database database = openLocked();
      database.whenClosed(lock::close);
      return database;
    } catch (Throwable e) {
      lock.close();
      throw e;
    }
  }

  private DirectoryLock lock() {
    DirectoryLock lock;
    try {
      lock = DirectoryLock.tryLock(directory);
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be locked", e);
    }
    if (lock == null) {
      throw failures.of(Kind.UNAVAILABLE, IN_USE);
    }
    return lock;
  }

  private Database openLocked() {
    try {
      checkFamilies();
      Database database = openAndTell(lookAtLog());
      try {
        checkFormat(database);
        return database;
      } catch (Throwable e) {
        database.close();
        throw e;
      }
    } catch (RocksDBException e) {
      throw Failures.isLocked(e)
          ? failures.of(Kind.UNAVAILABLE, IN_USE, e)
          : failures.of(Kind.UNAVAILABLE, "cannot be opened", e);
    }
  }

  private void checkDirectory() {
    try {
      OwnerOnly.createDirectory(directory);
    } catch (IOException e) {
      throw Files.exists(directory) && !Files.isDirectory(directory)
          ? failures.of(Kind.UNAVAILABLE, "is not a directory")
          : failures.of(Kind.UNAVAILABLE, "cannot be created", e);
    }
    if (!Files.isReadable(directory) || !Files.isExecutable(directory)) {
      throw failures.of(
          Kind.UNAVAILABLE, "cannot be read (expected: a permission to read and to enter it)");
    }
    if (!Files.isWritable(directory)) {
      throw failures.of(
          Kind.UNAVAILABLE,
          "cannot be written (expected: a permission, and no read-only file system)");
    }
    if (hasDatabase()) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        if (!HARMLESS.matcher(file.getFileName().toString()).matches()) {
          throw failures.of(
              Kind.UNAVAILABLE,
              "is not a store, and not empty: there is " + file.getFileName() + " in it");
        }
      }
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "cannot be read", e);
    }
  }

  private boolean hasDatabase() {
    return Files.exists(directory.resolve("CURRENT"));
  }

  /** Checks the families. Unknown families belong to a newer release or to another application. */
  private void checkFamilies() throws RocksDBException {
    if (!hasDatabase()) {
      return;
    }
    Set<String> others = new HashSet<>();
    Set<String> missing = new HashSet<>();
    for (Family family : Family.values()) {
      missing.add(new String(family.bytes(), UTF_8));
    }
    try (Options options = new Options()) {
      for (byte[] name : RocksDB.listColumnFamilies(options, directory.toString())) {
        String family = new String(name, UTF_8);
        if (!missing.remove(family)) {
          others.add(family);
        }
      }
      if (others.isEmpty() && missing.isEmpty()) {
        return;
      }
      byte[] format;
      boolean empty;
      try (RocksDB db = RocksDB.openReadOnly(options, directory.toString())) {
        format = db.get(Meta.format());
        empty = isEmpty(db);
      }
      if (others.isEmpty() && INDEXES.containsAll(missing) && formatOf(format) == FORMAT) {
        LOG.log(
            System.Logger.Level.WARNING,
            directory
                + ": a repair has dropped "
                + missing
                + " and rebuilds it; if the repair was interrupted, repeat it");
        return;
      }
      // An empty default family and no others: the process was killed during the creation.
      if (format != null || !empty || !others.isEmpty()) {
        throw refused(format, others.isEmpty() ? "without " + missing : "with " + others);
      }
    }
  }

  private static boolean isEmpty(RocksDB db) {
    try (var at = db.newIterator()) {
      at.seekToFirst();
      return !at.isValid();
    }
  }

  /**
   * A problem that RocksDB does not report.
   *
   * @param kept a link to the log that RocksDB would delete
   */
  private record Finding(System.Logger.Level level, String text, @Nullable Path kept) {}

  private @Nullable Finding lookAtLog() {
    try {
      if (Files.exists(directory.resolve(VersionFloor.FILE))
          && LogCheck.files(directory).isEmpty()) {
        return new Finding(
            System.Logger.Level.WARNING,
            "the write-ahead log is missing: the latest writes are lost",
            null);
      }
      LogCheck.Damage damage = LogCheck.find(directory);
      return damage == null ? null : findingOf(damage);
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "the write-ahead log cannot be read", e);
    }
  }

  /**
   * Opens the database, then logs the finding of the check. If an earlier release, which takes only
   * the lock of RocksDB, has the store open, the check has read a log in use.
   */
  private Database openAndTell(@Nullable Finding finding) throws RocksDBException {
    boolean ours = true;
    try {
      return Database.open(directory, settings);
    } catch (RocksDBException e) {
      ours = !Failures.isLocked(e);
      throw e;
    } finally {
      if (finding != null && ours) {
        LOG.log(finding.level(), directory + ": " + finding.text());
      } else if (finding != null) {
        delete(finding.kept());
      }
    }
  }

  private static void delete(@Nullable Path kept) {
    try {
      if (kept != null) {
        Files.deleteIfExists(kept);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "cannot delete " + kept, e);
    }
  }

  private Finding findingOf(LogCheck.Damage damage) {
    String name = damage.file().getFileName().toString();
    String where = " " + name + " at " + damage.position() + ": the last ";
    if (!damage.soundBehind()) {
      return new Finding(
          System.Logger.Level.INFO,
          "the write-ahead log ends with an incomplete record, as a kill leaves it, in"
              + where
              + damage.droppedBytes()
              + " bytes are dropped",
          null);
    }
    String text =
        "the write-ahead log is damaged, with sound records behind the damage, in"
            + where
            + damage.droppedBytes()
            + " bytes are dropped, and the commits in them are lost; the file ";
    // RocksDB deletes a log after reading it. Keep this one for an investigation.
    String keptName = name + ".damaged";
    try {
      Path kept = Files.createLink(directory.resolve(keptName), damage.file());
      return new Finding(System.Logger.Level.WARNING, text + "is kept as " + keptName, kept);
    } catch (IOException | UnsupportedOperationException e) {
      return new Finding(
          System.Logger.Level.WARNING,
          text + "cannot be kept as " + keptName + ": " + Failures.reason(e),
          null);
    }
  }

  private void checkFormat(Database database) throws RocksDBException {
    byte[] format = database.get(Family.META, Meta.format());
    if (format != null) {
      if (formatOf(format) != FORMAT) {
        throw refused(format, "");
      }
      return;
    }
    boolean[] empty = {true};
    for (Family family : List.of(Family.META, Family.TIMERS)) {
      database.scan(family, null, null, null, at -> empty[0] = false);
    }
    if (!empty[0]) {
      throw refused(null, "without a format");
    }
    try (Batch batch = new Batch(database)) {
      batch.put(Family.META, Meta.format(), Meta.number(FORMAT));
      batch.write(true);
    }
  }

  private static long formatOf(byte @Nullable [] format) {
    try {
      return format == null ? -1 : Meta.number(format);
    } catch (MalformedException e) {
      return -1;
    }
  }

  private StoreException refused(byte @Nullable [] format, String why) {
    long found = formatOf(format);
    return found > 0
        ? failures.of(
            Kind.UNAVAILABLE,
            "is a store of format " + found + "; this release reads format " + FORMAT)
        : failures.of(
            Kind.UNAVAILABLE, "is a RocksDB database, but not a store of timers: it is " + why);
  }
}
