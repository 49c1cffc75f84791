// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import java.util.List;
import java.util.concurrent.Executor;

/** Attempts that an executor runs in one task. */
interface AttemptTask {
  /**
   * Submits the attempts to an executor. If the executor throws, {@link #takeBack} returns whether
   * they have begun nevertheless.
   */
  void handOver(Executor executor);

  /** Takes the attempts from the executor. Returns an empty list if they have begun. */
  List<AttemptRun> takeBack();
}
