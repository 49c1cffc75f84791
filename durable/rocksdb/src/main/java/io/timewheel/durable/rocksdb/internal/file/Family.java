// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** The column families. */
public enum Family {
  /**
   * The format, last version, epoch, pauses and counters. RocksDB requires a family of this name.
   */
  META("default"),
  /** The records of all timers. */
  TIMERS("timers"),
  /** Payloads that are too large to be rewritten with their records. */
  PAYLOADS("payloads"),
  /** The timers that wait for their time, by time. */
  DUE("due"),
  /** The timers that wait for a consumer, by the time at which they became ready. */
  READY("ready"),
  /** The finished timers, by the time at which they finished. */
  FINISHED("finished"),
  /** The answers of requests, and their order by time. */
  ANSWERS("answers");

  /** The families that can be rebuilt from the records. */
  public static final List<Family> INDEXES = List.of(DUE, READY, FINISHED);

  private final String name;

  Family(String name) {
    this.name = name;
  }

  public byte[] bytes() {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
