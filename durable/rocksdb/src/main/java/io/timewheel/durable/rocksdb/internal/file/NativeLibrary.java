// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.rocksdb.NativeLibraryLoader;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/**
 * Loads the native library of RocksDB. By itself RocksDB unpacks 17 MB into the directory for
 * temporary files and deletes them at the end of the JVM, so each one that is killed leaves them
 * behind. Here they are deleted as soon as they are loaded, where the system allows that.
 */
final class NativeLibrary {
  /** Where RocksDB is told to unpack to; then it is left to itself. */
  private static final String DIRECTORY_VARIABLE = "ROCKSDB_SHAREDLIB_DIR";

  private static boolean loaded;

  private NativeLibrary() {}

  static synchronized void load() {
    if (loaded) {
      return;
    }
    if (System.getenv(DIRECTORY_VARIABLE) == null) {
      unpackAndLoad();
    }
    RocksDB.loadLibrary();
    loaded = true;
  }

  private static void unpackAndLoad() {
    try {
      Path directory = Files.createTempDirectory("timewheel-rocksdb");
      Path file = directory.resolve(Environment.getJniLibraryFileName("rocksdb"));
      try {
        NativeLibraryLoader.getInstance().loadLibrary(directory.toString());
      } finally {
        delete(file);
        delete(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What is in use cannot be deleted everywhere. */
  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }
}
