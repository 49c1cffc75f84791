// SPDX-License-Identifier: Apache-2.0
/**
 * A Java agent that puts the {@code HashedWheelTimer} of Netty and Dubbo, and relocated copies of
 * it, on a Timewheel timer: {@code java -javaagent:timewheel-agent.jar -jar app.jar}.
 *
 * <p>The application's class stays, with its constructors, states, limits, exceptions, logs and
 * leak detection. Only its wheel no longer runs. {@link io.timewheel.agent.Weaver} changes three
 * classes as they load:
 *
 * <pre>
 *   HashedWheelTimer      its constructor attaches an engine; its two queues lead to the engine; stop() stops the engine
 *   its Worker            run() runs the engine on the application's own thread
 *   its HashedWheelTimeout  implements three functional interfaces of the JDK, through which the engine calls it
 * </pre>
 *
 * The changed classes refer to types of the JDK only. They find {@link io.timewheel.agent.Bridge}
 * through the system class loader, to which the JVM adds every agent. So it does not matter which
 * class loader or module they are in. If the engine cannot be attached, the timer runs on its own
 * wheel, whose code is still there.
 */
@NullMarked
package io.timewheel.agent;

import org.jspecify.annotations.NullMarked;
