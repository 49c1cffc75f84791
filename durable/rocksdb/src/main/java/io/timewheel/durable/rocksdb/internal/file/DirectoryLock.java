// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Locks a directory, in addition to RocksDB. If a user deletes the file LOCK of an open database,
 * RocksDB lets a second process open it.
 */
final class DirectoryLock implements AutoCloseable {
  static final String FILE = "OWNER";

  /** The directories that this process has locked. A second channel would release the lock. */
  private static final Set<Path> LOCKED = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final FileChannel channel;

  private DirectoryLock(Path directory, FileChannel channel) {
    this.directory = directory;
    this.channel = channel;
  }

  /** {@return the lock of a directory; null if this process or another one has it} */
  static @Nullable DirectoryLock tryLock(Path directory) throws IOException {
    Path real = directory.toRealPath();
    if (!LOCKED.add(real)) {
      return null;
    }
    FileChannel channel = null;
    boolean locked = false;
    try {
      channel = FileChannel.open(real.resolve(FILE), CREATE, WRITE);
      locked = channel.tryLock() != null;
      return locked ? new DirectoryLock(real, channel) : null;
    } finally {
      if (!locked) {
        release(real, channel);
      }
    }
  }

  private static void release(Path real, @Nullable FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      Failures.LOG.log(System.Logger.Level.WARNING, real + ": may stay locked", e);
    } finally {
      LOCKED.remove(real);
    }
  }

  @Override
  public void close() {
    release(directory, channel);
  }
}
