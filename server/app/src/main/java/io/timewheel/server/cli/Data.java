// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.api.BackupRequest;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.store.StoreCopies;
import io.timewheel.server.store.StoreCopies.Copy;
import io.timewheel.server.store.TemporaryFiles;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The data that a command reads: the store itself or, if a server has the store open, a copy. The
 * server makes the copy in its directory; {@link #close} deletes it. Of a directory that cannot be
 * written, the command opens a copy whose large files are links.
 */
final class Data implements AutoCloseable {
  /** A file of every RocksDB store. Without this check, RocksDB would create an empty store. */
  private static final String CURRENT = "CURRENT";

  private static final String LOCK = "LOCK";

  /** Matches the files that RocksDB never changes; it only deletes them. */
  private static final Pattern UNCHANGED = Pattern.compile(".*\\.(sst|blob)");

  private final @Nullable RocksTimerStore store;

  /** The directory of the copy; null for the store itself. */
  private final @Nullable Path copy;

  private final Closeable files;

  private Data(@Nullable RocksTimerStore store, @Nullable Path copy, Closeable files) {
    this.store = store;
    this.copy = copy;
    this.files = files;
  }

  /** Opens the store, or has the server copy it. */
  static Data of(Path directory, Supplier<ApiClient> server) throws IOException {
    checkExists(directory);
    if (!Files.isWritable(directory)) {
      return readOnly(directory);
    }
    try {
      return new Data(RocksTimerStore.open(directory), null, () -> {});
    } catch (StoreException e) {
      if (!String.valueOf(e.getMessage()).contains("is in use")) {
        throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
      }
      Copy copy = copyOf(directory, server.get());
      return new Data(null, copy.path(), copy::close);
    }
  }

  /** Opens a temporary copy of a store, without a change of its directory. */
  static Data readOnly(Path directory) throws IOException {
    if (isLocked(directory.resolve(LOCK))) {
      throw new CommandException(
          ExitCode.FAILED,
          directory + " is in use and cannot be written (expected: run where its server runs)");
    }
    TemporaryFiles links = new TemporaryFiles(Files.createTempDirectory("timewheel-"));
    try {
      copyFiles(directory.toRealPath(), links.path(), true);
      return new Data(StoreCommand.open(links.path()), links.path(), links::close);
    } catch (IOException | RuntimeException e) {
      links.close();
      throw e;
    }
  }

  private static boolean isLocked(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.tryLock(0, Long.MAX_VALUE, true) == null;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Opens the store itself. No server may have it open. */
  static RocksTimerStore alone(Path directory) {
    checkExists(directory);
    return StoreCommand.open(directory);
  }

  private static void checkExists(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw new CommandException(
          ExitCode.FAILED, directory + ": there is no such directory (--data)");
    }
    if (Files.notExists(directory.resolve(CURRENT))) {
      throw new CommandException(ExitCode.FAILED, directory + ": contains no store (--data)");
    }
  }

  private static Copy copyOf(Path directory, ApiClient server) throws IOException {
    Copy copy = StoreCopies.reserve(directory);
    try {
      make(directory, copy.path(), server);
      return copy;
    } catch (RuntimeException e) {
      copy.close();
      throw e;
    }
  }

  private static void make(Path directory, Path copy, ApiClient server) {
    BackupRequest sent = new BackupRequest(copy.getFileName().toString());
    String made;
    try {
      made = server.call(Call.post("/v1/backups", sent)).path("directory").asString("");
    } catch (CommandException e) {
      throw new CommandException(
          e.exitCode(),
          "%s is in use; requesting a copy from its server (--server): %s"
              .formatted(directory, e.getMessage()));
    }
    if (!Files.isDirectory(copy)) {
      throw new CommandException(
          ExitCode.FAILED,
          "%s is in use by a server other than --server, which has copied its own data: %s"
              .formatted(directory, made));
    }
  }

  /** {@return the open store, or the open copy} */
  RocksTimerStore open() {
    return store != null ? store : RocksTimerStore.open(requireNonNull(copy));
  }

  /** Copies the store into a directory that does not exist yet. */
  void copyTo(Path target) throws IOException {
    if (Files.exists(target)) {
      throw new CommandException(ExitCode.FAILED, target + " already exists");
    }
    if (copy == null) {
      requireNonNull(store).backup(target);
      return;
    }
    if (store != null) {
      store.close(); // its files do not change meanwhile
    }
    Path absolute = target.toAbsolutePath();
    Path parent = absolute.getParent() == null ? absolute : absolute.getParent();
    Files.createDirectories(parent);
    FileStore there = Files.getFileStore(parent);
    if (store == null && there.equals(Files.getFileStore(copy))) { // without links
      Files.move(copy, target);
      return;
    }
    // The rename shows that the directory is complete.
    String name = absolute.getFileName() + ".part";
    try (TemporaryFiles part = new TemporaryFiles(Files.createTempDirectory(parent, name))) {
      copyFiles(copy, part.path(), false);
      RocksTimerStore.restrict(part.path());
      Files.move(part.path(), target);
    }
  }

  private static void copyFiles(Path from, Path to, boolean linking) throws IOException {
    try (Stream<Path> files = Files.list(from).filter(Files::isRegularFile)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path target = to.resolve(file.getFileName());
        if (linking && UNCHANGED.matcher(file.getFileName().toString()).matches()) {
          Files.createSymbolicLink(target, file);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (store != null) {
      store.close();
    }
    files.close();
  }
}
