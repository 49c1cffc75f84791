// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;

/**
 * A bean that makes further settings of the {@link DurableTimer}, before {@link OnTimer} methods
 * are added. Several are called in their order. For the codec of payloads make a {@code
 * PayloadCodec} bean, and for the store a {@code TimerStore} bean.
 */
@FunctionalInterface
public interface DurableTimerCustomizer {
  /**
   * Makes settings.
   *
   * @param builder what the timer will be built from
   */
  void customize(DurableTimerBuilder builder);
}
