// SPDX-License-Identifier: Apache-2.0
/**
 * A timer as a bean of Spring Boot, and {@code @Scheduled} on it.
 *
 * <p>{@link io.timewheel.spring.boot.TimewheelAutoConfiguration} says which beans there are and
 * when they give way, {@link io.timewheel.spring.boot.TimewheelMetricsAutoConfiguration} adds the
 * meters. The properties are in {@code docs/SPRING.md}.
 */
@NullMarked
package io.timewheel.spring.boot;

import org.jspecify.annotations.NullMarked;
