// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

import java.util.concurrent.Executor;

/**
 * An executor without threads, for tests: its tasks wait until the test runs them. If an engine
 * uses one for its store work, a waiting caller runs tasks until its own change is done, instead of
 * blocking.
 */
public interface StepExecutor extends Executor {
  /**
   * Runs one waiting task.
   *
   * @return false if there was none
   */
  boolean runOne();
}
