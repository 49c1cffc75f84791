// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import java.util.List;

/**
 * What {@link RocksTimerStore#verify} has found.
 *
 * @param timers how many records were read
 * @param problems how many problems there are
 * @param texts what they are, each with the key of its timer; at most {@link #MAX_TEXTS}
 */
public record VerifyReport(long timers, long problems, List<String> texts) {
  /** How many problems are told one by one. */
  public static final int MAX_TEXTS = 100;

  /**
   * Copies the list.
   *
   * @param timers how many records were read
   * @param problems how many problems there are
   * @param texts what they are, each with the key of its timer
   */
  public VerifyReport {
    texts = List.copyOf(texts);
  }

  /** {@return whether nothing is wrong} */
  public boolean isClean() {
    return problems == 0;
  }
}
