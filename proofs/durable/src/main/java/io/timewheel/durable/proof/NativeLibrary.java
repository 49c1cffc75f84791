// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/**
 * The native library of RocksDB, unpacked once for all children. By default, each child would
 * unpack its own copy. That takes longer than the test, and a killed child leaves its copy behind.
 */
final class NativeLibrary {
  private static final List<String> JVM_ARGUMENTS = unpack();

  private NativeLibrary() {}

  static List<String> jvmArguments() {
    return JVM_ARGUMENTS;
  }

  private static List<String> unpack() {
    String resource = Environment.getJniLibraryFileName("rocksdb");
    try (InputStream library = RocksDB.class.getClassLoader().getResourceAsStream(resource)) {
      if (library == null) {
        return List.of();
      }
      Path directory = Files.createTempDirectory("rocksdb");
      Path file = directory.resolve(Environment.getSharedLibraryFileName("rocksdb"));
      Files.copy(library, file);
      directory.toFile().deleteOnExit();
      file.toFile().deleteOnExit();
      return List.of("-Djava.library.path=" + directory);
    } catch (IOException e) {
      return List.of(); // slower, but possible
    }
  }
}
