// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.spi.FinishingHandler;

/**
 * Support for {@linkplain OnTimer#transactional() transactional} methods. It refers to no type that
 * is present only with a database.
 */
interface ExactlyOnce {
  /** {@return the class of the firing that a method receives} */
  Class<?> firingType();

  /** {@return a handler that calls the method in the transaction that records its success} */
  FinishingHandler handler(OnTimerMethod method);
}
