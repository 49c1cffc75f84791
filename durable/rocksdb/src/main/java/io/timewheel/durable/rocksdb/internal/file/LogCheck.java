// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Checks the write-ahead log before RocksDB reads it. RocksDB stops at the first damaged record and
 * does not report the records after it.
 *
 * <p>A killed process leaves an incomplete record at the end of the log. Sound records after a
 * damaged one have another cause: a disk fault or a power cut. In a power cut, unsynced pages reach
 * the disk in any order. The log does not show which one happened, so the store reports the damage
 * and opens.
 *
 * <p>The log consists of blocks of 32 KiB. A record has a checksum, a length, a type and its bytes,
 * and lies within one block. A longer record is split into a first part, middle parts and a last
 * part.
 */
public final class LogCheck {
  private static final int BLOCK_BYTES = 32 << 10;
  private static final int HEADER_BYTES = 7;
  private static final int LENGTH_AT = 4;
  private static final int TYPE_AT = 6;

  private static final int FULL = 1;
  private static final int FIRST = 2;
  private static final int LAST = 4;

  /**
   * Contains the position of the first damage in the log.
   *
   * @param file the file
   * @param position where the first damaged record begins in the file, in bytes
   * @param droppedBytes the number of bytes from there to the end of the log
   * @param soundBehind true if there are sound records among them
   */
  public record Damage(Path file, long position, long droppedBytes, boolean soundBehind) {}

  private final byte[] bytes = new byte[BLOCK_BYTES];
  private final ByteBuffer block = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C checksum = new CRC32C();

  private @Nullable Path damaged;
  private long position;
  private long droppedBytes;
  private boolean soundBehind;
  private boolean onlyZeros = true;

  private LogCheck() {}

  /** {@return the files of the log, oldest first} */
  public static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(file -> file.getFileName().toString().matches("\\d{1,18}\\.log"))
          .sorted(Comparator.comparingLong(LogCheck::numberOf))
          .toList();
    }
  }

  private static long numberOf(Path file) {
    return Long.parseLong(file.getFileName().toString().replace(".log", ""));
  }

  /** Finds the first damage; null if the log is sound, or if only zeros follow its sound part. */
  public static @Nullable Damage find(Path directory) throws IOException {
    LogCheck check = new LogCheck();
    for (Path file : files(directory)) {
      check.read(file);
    }
    return check.damaged == null || check.onlyZeros
        ? null
        : new Damage(check.damaged, check.position, check.droppedBytes, check.soundBehind);
  }

  private void read(Path file) throws IOException {
    long begun = -1;
    long at = 0;
    try (InputStream in = Files.newInputStream(file)) {
      for (int size; (size = in.readNBytes(bytes, 0, BLOCK_BYTES)) > 0; at += size) {
        int from = 0;
        if (damaged == null) {
          int end = 0;
          for (boolean sound = true; sound && size - end >= HEADER_BYTES; ) {
            int type = bytes[end + TYPE_AT] & 0xff;
            boolean goesOn = type > FIRST && type <= LAST;
            sound = isSound(end, size) && (type > LAST || goesOn == (begun >= 0));
            if (sound) {
              begun = type == FIRST ? at + end : type == FULL || type == LAST ? -1 : begun;
              end += HEADER_BYTES + lengthAt(end);
            }
          }
          boolean trailer = BLOCK_BYTES - end < HEADER_BYTES;
          if (end < size && !trailer) {
            damagedAt(file, begun >= 0 ? begun : at + end, at + end);
            begun = -1;
            from = end;
          } else {
            from = size;
          }
        }
        lookBehind(from, size);
      }
    }
    if (damaged == null && begun >= 0) {
      damagedAt(file, begun, at);
    }
  }

  private void damagedAt(Path file, long start, long upTo) {
    damaged = file;
    position = start;
    droppedBytes = upTo - start;
    onlyZeros = start == upTo;
  }

  /** Searches the dropped part of a block for sound records. */
  private void lookBehind(int from, int size) {
    droppedBytes += size - from;
    for (int i = from; i < size && !soundBehind; i++) {
      soundBehind = isSound(i, size);
      onlyZeros &= bytes[i] == 0 && !soundBehind;
    }
  }

  private int lengthAt(int at) {
    return block.getShort(at + LENGTH_AT) & 0xffff;
  }

  /** Returns whether a record with a correct checksum begins at this position of the block. */
  private boolean isSound(int at, int size) {
    if (at + HEADER_BYTES > size
        || bytes[at + TYPE_AT] == 0
        || at + HEADER_BYTES + lengthAt(at) > size) {
      return false;
    }
    checksum.reset();
    checksum.update(bytes, at + TYPE_AT, 1 + lengthAt(at));
    int crc = (int) checksum.getValue();
    // RocksDB masks checksums like this, because a record may itself contain checksums.
    return block.getInt(at) == ((crc >>> 15) | (crc << 17)) + 0xa282ead8;
  }
}
