// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.maintenance;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Collects the timers that an export could not read. */
final class Unread {
  private final List<String> texts = new ArrayList<>();

  /**
   * Ranges that could not be read. The key is the last readable key before the range; empty for the
   * beginning. The value is the first one after it; null for the end.
   */
  private final NavigableMap<byte[], byte @Nullable []> gaps =
      new TreeMap<>(Arrays::compareUnsigned);

  private @Nullable Throwable first;
  private long problems;

  void gap(byte @Nullable [] behind, byte @Nullable [] before, Throwable why) {
    gaps.put(behind == null ? new byte[0] : behind, before);
    String where =
        behind == null && before == null
            ? "all timers"
            : "the timers"
                + (behind == null ? "" : " after " + name(behind))
                + (before == null ? "" : " before " + name(before));
    add(where, why);
  }

  void timer(byte[] timer, Throwable why) {
    add(name(timer), why);
  }

  private void add(String what, Throwable why) {
    problems++;
    first = first == null ? why : first;
    if (texts.size() < IncompleteExportException.MAX_TEXTS) {
      texts.add(what + ": " + Failures.reason(why));
    }
  }

  private static String name(byte[] timer) {
    try {
      TimerKey key = Keys.timer(timer);
      return key.toString();
    } catch (MalformedException e) {
      return "the key " + HexFormat.of().formatHex(timer);
    }
  }

  boolean hasGaps() {
    return !gaps.isEmpty();
  }

  boolean isInGap(byte[] timer) {
    Map.Entry<byte[], byte @Nullable []> gap = gaps.lowerEntry(timer);
    return gap != null
        && (gap.getValue() == null || Arrays.compareUnsigned(timer, gap.getValue()) < 0);
  }

  /** Throws if some timers could not be read. */
  void check(Failures failures, long written, long stored) {
    if (first == null) {
      return;
    }
    long unread = Math.max(0, stored - written);
    String message =
        "the export is incomplete: %d timers are in it, and %d could not be read; %s%s"
            .formatted(
                written,
                unread,
                texts.get(0),
                problems == 1 ? "" : ", and " + (problems - 1) + " more such places");
    throw new IncompleteExportException(
        failures.directory() + ": " + message, written, unread, texts, first);
  }
}
