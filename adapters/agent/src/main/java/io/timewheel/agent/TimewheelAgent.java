// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.lang.instrument.Instrumentation;
import org.jspecify.annotations.Nullable;

/** The entry point of the agent: {@code java -javaagent:timewheel-agent.jar=OPTIONS}. */
public final class TimewheelAgent {
  private TimewheelAgent() {}

  /**
   * Called by the JVM before the application's main method. An invalid option ends the JVM with
   * exit code 2.
   *
   * @param argument the options; null if there are none
   * @param instrumentation the JVM's service for agents
   */
  public static void premain(@Nullable String argument, Instrumentation instrumentation) {
    try {
      start(argument, instrumentation);
    } catch (IllegalArgumentException e) {
      System.err.println("[timewheel-agent] " + e.getMessage());
      System.exit(2);
    }
  }

  /**
   * Called by the JVM when the agent is attached to a running application. Timers whose classes are
   * already loaded keep their own wheel. If the JVM has this agent already, nothing changes.
   *
   * @param argument the options; null if there are none
   * @param instrumentation the JVM's service for agents
   * @throws IllegalArgumentException if an option is invalid
   */
  public static void agentmain(@Nullable String argument, Instrumentation instrumentation) {
    start(argument, instrumentation);
  }

  private static void start(@Nullable String argument, Instrumentation instrumentation) {
    Agent agent = new Agent(Options.parse(argument), System.err);
    if (!agent.install()) {
      agent.print("the agent is given twice; ignored: " + argument + ". Remove one of the two");
      return;
    }
    TimerTransformer transformer = new TimerTransformer(agent);
    transformer.leaveAlone(instrumentation.getAllLoadedClasses());
    instrumentation.addTransformer(transformer);
    if (agent.options().measures()) {
      Runtime.getRuntime().addShutdownHook(new Thread(agent::report, "timewheel-agent-report"));
    }
  }
}
