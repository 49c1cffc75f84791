// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;

/**
 * A bean that changes settings of the {@link DurableTimer} before {@link OnTimer} methods are
 * added. Several customizers are called in the order of their {@code @Order}. To set the codec of
 * payloads, define a {@code PayloadCodec} bean. To set the store, define a {@code TimerStore} bean.
 */
@FunctionalInterface
public interface DurableTimerCustomizer {
  /**
   * Changes settings.
   *
   * @param builder the builder of the scheduler
   */
  void customize(DurableTimerBuilder builder);
}
