// SPDX-License-Identifier: Apache-2.0
/**
 * Adapts any timer of this library to the timer interface of Apache Dubbo.
 *
 * <pre>{@code
 * Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
 *
 * timer.newTimeout(timeout -> reconnect(), 3, TimeUnit.SECONDS);
 * }</pre>
 *
 * {@code docs/migrate/memory.md} lists the differences from Dubbo's own timer.
 */
@NullMarked
package io.timewheel.dubbo;

import org.jspecify.annotations.NullMarked;
