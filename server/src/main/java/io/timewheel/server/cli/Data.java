// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.cli.ApiClient.Call;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The data that a command reads: the store itself or, while a server has it open, a copy that the
 * server makes in its directory and that goes when the command ends.
 */
final class Data implements AutoCloseable {
  /** Where a server makes copies, below its data. */
  private static final String BACKUPS = "backups";

  private final @Nullable RocksTimerStore store;
  private final @Nullable Path copy;

  private Data(@Nullable RocksTimerStore store, @Nullable Path copy) {
    this.store = store;
    this.copy = copy;
  }

  /** Opens what is there, or has it copied. */
  static Data of(Path directory, Supplier<ApiClient> server) {
    if (!Files.isDirectory(directory)) {
      throw new CommandException(
          ExitCode.FAILED, directory + ": there is no such directory (--data)");
    }
    try {
      return new Data(RocksTimerStore.open(directory), null);
    } catch (StoreException e) {
      if (!String.valueOf(e.getMessage()).contains("is in use")) {
        throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
      }
      return new Data(null, copyOf(directory, server.get()));
    }
  }

  private static Path copyOf(Path directory, ApiClient server) {
    String name = "store-" + UUID.randomUUID();
    var sent = ApiClient.JSON.createObjectNode().put("name", name);
    String made;
    try {
      made = server.call(Call.post("/v1/backups", sent)).path("directory").asString("");
    } catch (CommandException e) {
      throw new CommandException(
          e.exitCode(),
          "%s is in use, and its server is asked for a copy (--server): %s"
              .formatted(directory, e.getMessage()));
    }
    Path copy = directory.resolve(BACKUPS).resolve(name);
    if (!Files.isDirectory(copy)) {
      throw new CommandException(
          ExitCode.FAILED,
          "%s is in use by another server than that of --server, which has made a copy of its own data: %s"
              .formatted(directory, made));
    }
    return copy;
  }

  /** {@return the store, or the copy of it} */
  RocksTimerStore open() {
    return store != null ? store : RocksTimerStore.open(copy());
  }

  private Path copy() {
    if (copy == null) {
      throw new IllegalStateException("it is no copy");
    }
    return copy;
  }

  /** Puts a copy into a directory that is not there yet. */
  void copyTo(Path target) throws IOException {
    if (Files.exists(target)) {
      throw new CommandException(ExitCode.FAILED, target + " is there already");
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
    // Whoever finds the directory finds all of it.
    Path part = Files.createTempDirectory(parent, absolute.getFileName() + ".part");
    try {
      copyFiles(copy(), part);
      Files.move(part, target);
    } finally {
      delete(part);
    }
  }

  private static void copyFiles(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.list(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, to.resolve(file.getFileName()));
      }
    }
  }

  private static void delete(Path directory) {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      List<Path> inner = files.sorted(Comparator.reverseOrder()).toList();
      for (Path file : inner) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    if (store != null) {
      store.close();
    }
    if (copy != null) {
      delete(copy);
    }
  }
}
