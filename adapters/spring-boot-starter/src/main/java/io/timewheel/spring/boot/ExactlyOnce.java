// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.spi.FinishingHandler;

/**
 * Runs {@linkplain OnTimer#transactional() transactional} methods. This interface refers to no type
 * of the modules for databases, which may be missing.
 */
interface ExactlyOnce {
  /** {@return the class of the firing that a transactional method may take} */
  Class<?> firingType();

  /**
   * Logs a warning if the methods can hold all connections of the pool, so that other work waits.
   *
   * @param methods the number of transactional methods
   * @param attempts the sum of their limits
   */
  void checkPool(int methods, long attempts);

  /** {@return a handler that calls the method in the transaction that records its success} */
  FinishingHandler handler(OnTimerMethod method);
}
