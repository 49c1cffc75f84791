// SPDX-License-Identifier: Apache-2.0
/**
 * A Java agent that makes the {@code HashedWheelTimer} of Netty and Dubbo, and relocated copies of
 * it, run on a Timewheel timer: {@code java -javaagent:timewheel-agent.jar -jar app.jar}.
 *
 * <p>The application still uses its own class, with its constructors, states, limits, exceptions,
 * logs and leak detection. Only the wheel of that class no longer runs. {@link
 * io.timewheel.agent.Weaver} changes three classes when the JVM loads them:
 *
 * <pre>
 *   HashedWheelTimer      its constructor attaches an engine; its two queues lead to the engine; stop() stops the engine
 *   its Worker            run() runs the engine on the application's own thread
 *   its HashedWheelTimeout  implements four functional interfaces of the JDK, through which the engine calls it
 * </pre>
 *
 * The changed classes refer to types of the JDK only. They find {@link io.timewheel.agent.Bridge}
 * through the system class loader, to which the JVM adds every agent. So they may be in any class
 * loader or module. If the engine cannot be attached, the timer runs on its own wheel, whose code
 * is unchanged.
 */
@NullMarked
package io.timewheel.agent;

import org.jspecify.annotations.NullMarked;
