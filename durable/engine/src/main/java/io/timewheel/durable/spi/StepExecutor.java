// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.concurrent.Executor;

/**
 * An executor without threads, for tests: its tasks wait until somebody runs them. An engine that
 * is given one for its store work never parks the thread of a caller; it lets that thread run tasks
 * until what the caller waits for is done.
 */
public interface StepExecutor extends Executor {
  /**
   * Runs one task that delays.
   *
   * @return false if there was none
   */
  boolean runOne();
}
