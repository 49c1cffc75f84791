// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreException.Kind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Opens a directory, or says why it cannot be: what is asked here is asked before RocksDB writes
 * anything, so that nothing is put into a directory of somebody else.
 */
final class Opening {
  static final int FORMAT = 1;

  private static final System.Logger LOG = System.getLogger(RocksTimerStore.class.getName());

  /** What RocksDB has in a directory before CURRENT is there; and what a mounted disk brings. */
  private static final Pattern HARMLESS =
      Pattern.compile(
          "LOG(\\.old\\..*)?|LOCK|IDENTITY|MANIFEST-.*|OPTIONS-.*|.*\\.dbtmp|.*\\.log|lost\\+found");

  private final Path directory;
  private final Settings settings;
  private final Failures failures;

  Opening(Path directory, Settings settings, Failures failures) {
    this.directory = directory;
    this.settings = settings;
    this.failures = failures;
  }

  Database open() {
    checkDirectory();
    try {
      NativeLibrary.load();
    } catch (RuntimeException | LinkageError e) {
      throw failures.of(Kind.UNAVAILABLE, "the native library of RocksDB cannot be loaded", e);
    }
    try {
      checkFamilies();
      checkLog();
      Database database = Database.open(directory, settings);
      try {
        checkFormat(database);
        return database;
      } catch (Throwable e) {
        database.close();
        throw e;
      }
    } catch (RocksDBException e) {
      throw Failures.isLocked(e)
          ? failures.of(
              Kind.UNAVAILABLE, "is in use by another store, of this process or another one", e)
          : failures.of(Kind.UNAVAILABLE, "cannot be opened", e);
    }
  }

  private void checkDirectory() {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw Files.exists(directory) && !Files.isDirectory(directory)
          ? failures.of(Kind.UNAVAILABLE, "is not a directory")
          : failures.of(Kind.UNAVAILABLE, "cannot be made", e);
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

  /** A database with other families is of a newer release, or of somebody else. */
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
        format = db.get(Meta.FORMAT);
        empty = isEmpty(db);
      }
      // Only the default family, and nothing in it: killed while the store was being made.
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

  /** Tells of what RocksDB passes over in silence. */
  private void checkLog() {
    try {
      if (Files.exists(directory.resolve(VersionFloor.FILE))
          && LogCheck.files(directory).isEmpty()) {
        LOG.log(
            System.Logger.Level.WARNING,
            directory + ": the write-ahead log is missing: what was written last is lost");
      }
      LogCheck.Damage damage = LogCheck.find(directory);
      if (damage != null) {
        tell(damage);
      }
    } catch (IOException e) {
      throw failures.of(Kind.UNAVAILABLE, "the write-ahead log cannot be read", e);
    }
  }

  private void tell(LogCheck.Damage damage) {
    String name = damage.file().getFileName().toString();
    String where = " " + name + " at " + damage.position() + ": the last ";
    if (!damage.soundBehind()) {
      LOG.log(
          System.Logger.Level.INFO,
          directory
              + ": the write-ahead log ends with an incomplete record, as a kill leaves it, in"
              + where
              + damage.droppedBytes()
              + " bytes are dropped");
      return;
    }
    LOG.log(
        System.Logger.Level.WARNING,
        directory
            + ": the write-ahead log is damaged, with sound records behind the damage, in"
            + where
            + damage.droppedBytes()
            + " bytes are dropped, and what was acknowledged in them is lost; "
            + keep(damage.file(), name + ".damaged"));
  }

  /** RocksDB deletes a log that it has read, and somebody may want what is in this one. */
  private String keep(Path file, String name) {
    try {
      Files.createLink(directory.resolve(name), file);
      return "the file is kept as " + name;
    } catch (IOException | UnsupportedOperationException e) {
      return "the file cannot be kept as " + name + ": " + Failures.reason(e);
    }
  }

  private void checkFormat(Database database) throws RocksDBException {
    byte[] format = database.get(Family.META, Meta.FORMAT);
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
      batch.put(Family.META, Meta.FORMAT, Meta.number(FORMAT));
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
    return found > FORMAT
        ? failures.of(
            Kind.UNAVAILABLE,
            "is a store of format " + found + "; this release reads format " + FORMAT)
        : failures.of(
            Kind.UNAVAILABLE, "is a database of RocksDB, but no store of timers: it is " + why);
  }
}
