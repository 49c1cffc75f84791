// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import io.timewheel.durable.TimerKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an export could not read. */
final class Unread {
  private final List<String> texts = new ArrayList<>();
  private final List<Gap> gaps = new ArrayList<>();
  private @Nullable Throwable first;
  private long problems;

  /** A part of the family of timers, without its ends; null is the beginning or the end of it. */
  private static final class Gap {
    final byte @Nullable [] behind;
    final byte @Nullable [] before;

    Gap(byte @Nullable [] behind, byte @Nullable [] before) {
      this.behind = behind;
      this.before = before;
    }

    boolean has(byte[] timer) {
      return (behind == null || Arrays.compareUnsigned(behind, timer) < 0)
          && (before == null || Arrays.compareUnsigned(timer, before) < 0);
    }
  }

  void gap(byte @Nullable [] behind, byte @Nullable [] before, Throwable why) {
    gaps.add(new Gap(behind, before));
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
    return gaps.stream().anyMatch(gap -> gap.has(timer));
  }

  /** Throws an exception that says so, if something was not read. */
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
    throw failures.incomplete(message, written, unread, texts, first);
  }
}
