// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.spi.FinishingHandler;

/**
 * What {@linkplain OnTimer#transactional() transactional} methods need. It names no type that is
 * there only with a database.
 */
interface ExactlyOnce {
  /** {@return the class of what a method is told about its firing} */
  Class<?> firingType();

  /** {@return a method as a handler that works in the transaction that records its success} */
  FinishingHandler handler(OnTimerMethod method);
}
