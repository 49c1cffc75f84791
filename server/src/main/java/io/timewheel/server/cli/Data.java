// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.BackupRequest;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.store.StoreCopies;
import io.timewheel.server.store.StoreCopies.Copy;
import io.timewheel.server.store.TemporaryFiles;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The data that a command reads: the store itself or, if a server has the store open, a copy. The
 * server makes the copy in its directory; {@link #close} deletes it.
 */
final class Data implements AutoCloseable {
  /** A file of every RocksDB store. Without this check, RocksDB would create an empty store. */
  private static final String CURRENT = "CURRENT";

  private final @Nullable RocksTimerStore store;
  private final @Nullable Copy copy;

  private Data(@Nullable RocksTimerStore store, @Nullable Copy copy) {
    this.store = store;
    this.copy = copy;
  }

  /** Opens the store, or has the server copy it. */
  static Data of(Path directory, Supplier<ApiClient> server) throws IOException {
    checkExists(directory);
    try {
      return new Data(RocksTimerStore.open(directory), null);
    } catch (StoreException e) {
      if (!String.valueOf(e.getMessage()).contains("is in use")) {
        throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
      }
      return new Data(null, copyOf(directory, server.get()));
    }
  }

  /** Opens the store itself. No server may have it open. */
  static RocksTimerStore alone(Path directory) {
    checkExists(directory);
    try {
      return RocksTimerStore.open(directory);
    } catch (StoreException e) {
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
    }
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
    return store != null ? store : RocksTimerStore.open(copy());
  }

  private Path copy() {
    if (copy == null) {
      throw new IllegalStateException("not a copy");
    }
    return copy.path();
  }

  /** Copies the store into a directory that does not exist yet. */
  void copyTo(Path target) throws IOException {
    if (Files.exists(target)) {
      throw new CommandException(ExitCode.FAILED, target + " already exists");
    }
    if (store != null) {
      store.backup(target);
      return;
    }
    Path absolute = target.toAbsolutePath();
    Path parent = absolute.getParent() == null ? absolute : absolute.getParent();
    Files.createDirectories(parent);
    FileStore there = Files.getFileStore(parent);
    if (there.equals(Files.getFileStore(copy()))) {
      Files.move(copy(), target);
      return;
    }
    // The rename shows that the directory is complete.
    String name = absolute.getFileName() + ".part";
    try (TemporaryFiles part = new TemporaryFiles(Files.createTempDirectory(parent, name))) {
      copyFiles(copy(), part.path());
      RocksTimerStore.restrict(part.path());
      Files.move(part.path(), target);
    }
  }

  private static void copyFiles(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (store != null) {
      store.close();
    }
    if (copy != null) {
      copy.close();
    }
  }
}
