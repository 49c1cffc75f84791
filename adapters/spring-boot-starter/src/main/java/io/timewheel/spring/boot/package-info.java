// SPDX-License-Identifier: Apache-2.0
/**
 * Provides a timer as a Spring Boot bean, and runs {@code @Scheduled} methods on it.
 *
 * <p>{@link io.timewheel.spring.boot.TimewheelAutoConfiguration} lists the beans and their
 * conditions. {@link io.timewheel.spring.boot.TimewheelMetricsAutoConfiguration} adds the meters.
 * {@code docs/guides/spring.md} describes the properties.
 */
@NullMarked
package io.timewheel.spring.boot;

import org.jspecify.annotations.NullMarked;
