// SPDX-License-Identifier: Apache-2.0
/**
 * Timers on timing wheels.
 *
 * <p>{@link io.timewheel.Timer} is the entry point. Use {@link io.timewheel.HierarchicalWheelTimer}
 * by default. {@link io.timewheel.HashedWheelTimer} is the classic single wheel, with the
 * constructors of the classes of that name in Netty and Dubbo. {@link io.timewheel.PolledTimer} has
 * no thread: the caller polls it.
 *
 * <h2>Terms</h2>
 *
 * <dl>
 *   <dt>timeout
 *   <dd>a task with a deadline, pending until it expires or is cancelled
 *   <dt>delay, deadline
 *   <dd>the time from now; the point in time
 *   <dt>tick
 *   <dd>the unit in which a timer's time passes; a timeout fires when a tick begins
 *   <dt>wheel, level, slot
 *   <dd>the structure that keeps timeouts by deadline: a wheel has slots, a hierarchical wheel has
 *       them on several levels
 *   <dt>stripe
 *   <dd>a part of a timer that has a lock and a wheel of its own
 *   <dt>timer thread
 *   <dd>the thread of a timer: it runs the {@code Worker}, which expires due timeouts and then
 *       parks; a <i>worker</i>, in lower case, is a thread of an executor
 *   <dt>lag
 *   <dd>the time from a deadline until the timeout is run or handed to the executor
 *   <dt>elapsed
 *   <dd>the time since the timer was made; all deadlines are counted in it
 * </dl>
 *
 * <h2>Reading order</h2>
 *
 * Read the implementation in this order. No class refers to one further down; a test verifies this.
 *
 * <ol>
 *   <li>The interfaces: {@link io.timewheel.Timer}, {@link io.timewheel.Timeout}, {@link
 *       io.timewheel.TimerTask}, {@link io.timewheel.TimeSource} and the callbacks of a timer
 *   <li>The grid: {@code Ticks}
 *   <li>The wheels, passive: {@code Node}, {@code Slot}, {@code Wheel}, {@code HashedWheel}, {@code
 *       HierarchicalWheel}
 *   <li>Time and sleep: {@code Clock}, {@code WakeUp}
 *   <li>The engine, for any number of threads; its classes refer to one another: {@code Stripe},
 *       {@code WheelTimeout}, {@code Homes}, {@code PendingLimit}, {@code Engine}, {@code
 *       Callbacks}, {@code Events} and smaller classes
 *   <li>The thread: {@code Worker}
 *   <li>The timers: {@code WheelTimer} with its two subclasses, {@code PolledTimer}
 * </ol>
 *
 * <h2>Memory modes</h2>
 *
 * State is plain and guarded by the lock of its stripe, unless its class states otherwise. A field
 * that is also read without the lock is written and read through a {@code VarHandle} in the weakest
 * sufficient mode. The mode is visible in the method: <i>opaque</i> for values that publish nothing
 * else, <i>acquire</i> and <i>release</i> for those that publish earlier writes. A volatile write
 * is a full fence on most machines, so there is none on the path of starting, moving and cancelling
 * a timeout.
 */
@NullMarked
package io.timewheel;

import org.jspecify.annotations.NullMarked;
