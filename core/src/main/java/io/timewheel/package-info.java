// SPDX-License-Identifier: Apache-2.0
/**
 * Timers on timing wheels.
 *
 * <p>{@link io.timewheel.Timer} is the entry point. {@link io.timewheel.HierarchicalWheelTimer} is
 * the one to use by default; {@link io.timewheel.HashedWheelTimer} is the classic single wheel,
 * with the constructors of Netty's and Dubbo's class of that name; {@link io.timewheel.PolledTimer}
 * has no thread and is driven by the caller.
 *
 * <h2>Words</h2>
 *
 * <dl>
 *   <dt>timeout
 *   <dd>a task with a deadline, pending until it expires or is cancelled
 *   <dt>delay, deadline
 *   <dd>how long from now; at what time
 *   <dt>tick
 *   <dd>the unit in which a timer's time passes; a timeout fires when a tick begins
 *   <dt>wheel, level, slot
 *   <dd>where timeouts are kept by deadline: a wheel has slots, a hierarchical one on several
 *       levels
 *   <dt>stripe
 *   <dd>a part of a timer that has a lock and a wheel of its own
 *   <dt>timer thread
 *   <dd>the thread of a timer: runs its {@code Worker}, which expires what is due and then parks; a
 *       <i>worker</i>, in lower case, is a thread of an executor
 *   <dt>lag
 *   <dd>the time from a deadline until it is acted on
 *   <dt>elapsed
 *   <dd>the time since the timer was made, in which all deadlines are counted
 * </dl>
 *
 * <h2>Reading order</h2>
 *
 * Read the inside in this order: no class names one further down, and a test makes sure of it.
 *
 * <ol>
 *   <li>The interfaces: {@link io.timewheel.Timer}, {@link io.timewheel.Timeout}, {@link
 *       io.timewheel.TimerTask}, {@link io.timewheel.TimeSource} and those that a timer calls
 *   <li>The grid: {@code Ticks}
 *   <li>The wheels, passive: {@code Node}, {@code Slot}, {@code Wheel}, {@code HashedWheel}, {@code
 *       HierarchicalWheel}
 *   <li>Time and sleep: {@code Clock}, {@code WakeUp}
 *   <li>The engine, for any number of threads; its classes know one another: {@code Stripe}, {@code
 *       WheelTimeout}, {@code Homes}, {@code PendingLimit}, {@code Engine}, {@code Callbacks},
 *       {@code Events} and small ones
 *   <li>The thread: {@code Worker}
 *   <li>The timers: {@code WheelTimer} with its two kinds, {@code PolledTimer}
 * </ol>
 *
 * <h2>Memory modes</h2>
 *
 * State is plain and guarded by the lock of its stripe, unless its class says otherwise. Where a
 * field is also read without the lock, it is written and read through a {@code VarHandle} in the
 * weakest mode that holds, and the method says which: <i>opaque</i> for values that carry nothing
 * else with them, <i>acquire</i> and <i>release</i> for those that publish what happened before. A
 * plain volatile write is a full fence on most machines, so there is none on the path of starting,
 * moving and cancelling a timeout.
 */
@NullMarked
package io.timewheel;

import org.jspecify.annotations.NullMarked;
