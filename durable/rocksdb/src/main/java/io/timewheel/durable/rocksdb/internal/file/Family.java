// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.nio.charset.StandardCharsets;

/** The column families. */
public enum Family {
  /** Format, last version, epoch, pauses, counters. RocksDB demands a family of this name. */
  META("default"),
  /** Every timer's record. */
  TIMERS("timers"),
  /** Payloads that are too large to be rewritten with their records. */
  PAYLOADS("payloads"),
  /** What waits for its time, in the order of time. */
  DUE("due"),
  /** What waits for a consumer, in the order in which it became ready. */
  READY("ready"),
  /** What is finished, in the order of its end. */
  FINISHED("finished"),
  /** The answers of requests, and the order of their times. */
  ANSWERS("answers");

  private final String name;

  Family(String name) {
    this.name = name;
  }

  public byte[] bytes() {
    return name.getBytes(StandardCharsets.UTF_8);
  }
}
