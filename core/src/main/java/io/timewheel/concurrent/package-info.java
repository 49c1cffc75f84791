// SPDX-License-Identifier: Apache-2.0
/**
 * The JDK's scheduled executor and futures with timeouts, on any {@link io.timewheel.Timer}.
 *
 * <p>{@link io.timewheel.concurrent.WheelScheduledExecutor} is a {@link
 * java.util.concurrent.ScheduledExecutorService} that keeps the contract of {@link
 * java.util.concurrent.ScheduledThreadPoolExecutor}. {@link io.timewheel.concurrent.FutureTimeouts}
 * gives {@link java.util.concurrent.CompletableFuture}s a timeout that is cancelled when they
 * complete. A {@link io.timewheel.concurrent.Deadline} is a point in time that a caller passes to
 * its callees.
 *
 * <h2>Terms</h2>
 *
 * The terms of {@link io.timewheel}, and:
 *
 * <dl>
 *   <dt>task
 *   <dd>a command for an executor, to run once or periodically; the task and its future are one
 *       object
 *   <dt>run
 *   <dd>one execution of a task; a periodic task has many, one after the other
 *   <dt>to wait
 *   <dd>a task waits before its first run and between two runs: on the timer until the deadline,
 *       and then in the queue of the workers until one of them begins the run
 *   <dt>workers
 *   <dd>the threads of the {@link java.util.concurrent.Executor} that runs the tasks; the timer
 *       thread only hands them over
 *   <dt>missed run
 *   <dd>a run at a fixed rate whose deadline passed before the previous run ended
 *   <dt>live
 *   <dd>waiting or running; an executor that is shut down terminates when none of its tasks is live
 * </dl>
 */
@NullMarked
package io.timewheel.concurrent;

import org.jspecify.annotations.NullMarked;
