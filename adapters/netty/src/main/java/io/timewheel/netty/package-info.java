// SPDX-License-Identifier: Apache-2.0
/**
 * Any timer of this library as the timer of Netty 4.1 or 4.2, and of the clients on Netty that take
 * a timer.
 *
 * <pre>{@code
 * Timer timer = new NettyTimer(HierarchicalWheelTimer.create());
 *
 * new DefaultAsyncHttpClientConfig.Builder().setNettyTimer(timer);
 * ClientResources.builder().timer(timer); // Lettuce
 * }</pre>
 *
 * {@link io.timewheel.netty.NettyTimer} is an {@link io.netty.util.Timer}; {@link
 * io.timewheel.netty.NettyHashedWheelTimer} is for code that asks for the class {@link
 * io.netty.util.HashedWheelTimer} itself. What differs from Netty's own timer is in {@code
 * docs/MIGRATING.md}.
 */
@NullMarked
package io.timewheel.netty;

import org.jspecify.annotations.NullMarked;
