// SPDX-License-Identifier: Apache-2.0
/**
 * Provides timers in memory and durable timers as Spring Boot beans. Runs {@code @Scheduled}
 * methods on the timer in memory, and {@code @OnTimer} methods as handlers of durable timers.
 *
 * <p>{@link io.timewheel.spring.boot.TimewheelAutoConfiguration} and {@link
 * io.timewheel.spring.boot.TimewheelDurableAutoConfiguration} list the beans and their conditions.
 * {@link io.timewheel.spring.boot.TimewheelMetricsAutoConfiguration} and {@link
 * io.timewheel.spring.boot.TimewheelDurableMetricsAutoConfiguration} add the meters. {@code
 * docs/guides/spring.md} describes the properties.
 */
@NullMarked
package io.timewheel.spring.boot;

import org.jspecify.annotations.NullMarked;
