// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.maintenance;

import java.util.List;

/**
 * Problems that a store has found in its own data.
 *
 * @param timers the number of timers, finished ones included
 * @param problems the number of problems that were found
 * @param texts the problems, each with the key of its timer; at most {@link #MAX_TEXTS}
 */
public record VerifyReport(long timers, long problems, List<String> texts) {
  /** The largest number of {@link #texts}. */
  public static final int MAX_TEXTS = 100;

  /**
   * Copies the list.
   *
   * @param timers the number of timers, finished ones included
   * @param problems the number of problems that were found
   * @param texts the problems, each with the key of its timer
   */
  public VerifyReport {
    texts = List.copyOf(texts);
  }

  /** {@return whether no problem was found} */
  public boolean isClean() {
    return problems == 0;
  }
}
