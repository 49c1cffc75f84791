// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/** Damages the files of the write-ahead log of a store that is not open. */
final class WriteAheadLog {
  private WriteAheadLog() {}

  /** {@return the files, the oldest first} */
  static List<Path> files(Path store) throws IOException {
    return Directories.content(store).stream()
        .filter(path -> path.getFileName().toString().matches("\\d+\\.log"))
        .sorted(Comparator.comparing(path -> path.getFileName().toString()))
        .toList();
  }

  /** Cuts bytes off the end of the newest file. */
  static void cutNewest(Path store, long bytes) throws IOException {
    List<Path> files = files(store);
    if (!files.isEmpty()) {
      Path newest = files.get(files.size() - 1);
      truncate(newest, Math.max(0, Files.size(newest) - bytes));
    }
  }

  static void truncate(Path file, long size) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(size);
    }
  }

  /** Changes a byte to another value. */
  static void damage(Path file, long at, Random random) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ (1 + random.nextInt(255)))).rewind();
      channel.write(one, at);
    }
  }
}
