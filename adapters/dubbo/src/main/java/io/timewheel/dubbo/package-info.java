// SPDX-License-Identifier: Apache-2.0
/**
 * Any timer of this library as a timer of Apache Dubbo.
 *
 * <pre>{@code
 * Timer timer = new DubboTimer(HierarchicalWheelTimer.create());
 *
 * timer.newTimeout(timeout -> reconnect(), 3, TimeUnit.SECONDS);
 * }</pre>
 *
 * What differs from Dubbo's own timer is in {@code docs/MIGRATING.md}.
 */
@NullMarked
package io.timewheel.dubbo;

import org.jspecify.annotations.NullMarked;
