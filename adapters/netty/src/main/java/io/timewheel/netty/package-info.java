// SPDX-License-Identifier: Apache-2.0
/**
 * Adapts any timer of this library to the timer interface of Netty 4.1 and 4.2. Use it with clients
 * on Netty that accept a timer.
 *
 * <pre>{@code
 * Timer timer = new NettyTimer(HierarchicalWheelTimer.create());
 *
 * new DefaultAsyncHttpClientConfig.Builder().setNettyTimer(timer);
 * ClientResources.builder().timer(timer); // Lettuce
 * }</pre>
 *
 * {@link io.timewheel.netty.NettyTimer} is an {@link io.netty.util.Timer}. Use {@link
 * io.timewheel.netty.NettyHashedWheelTimer} for code that requires the class {@link
 * io.netty.util.HashedWheelTimer} itself. {@code docs/migrate/memory.md} lists the differences from
 * Netty's own timer.
 */
@NullMarked
package io.timewheel.netty;

import org.jspecify.annotations.NullMarked;
