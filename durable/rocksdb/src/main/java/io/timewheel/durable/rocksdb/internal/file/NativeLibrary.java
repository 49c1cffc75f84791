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
 * Loads the native library of RocksDB. By default RocksDB unpacks 17 MB into the temporary
 * directory and deletes them when the JVM exits, so a killed JVM leaves them behind. This class
 * deletes them as soon as they are loaded, if the operating system allows that.
 */
final class NativeLibrary {
  /** If this variable is set, RocksDB unpacks the library to that directory, and keeps it there. */
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

  /** Deletes a file if possible. Some systems cannot delete a file in use. */
  private static void delete(Path path) {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }
}
