// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The agent of this JVM: its options, its figures and its output stream. */
final class Agent {
  private static final Duration MAX_TICK = Duration.ofDays(1);
  private static final int MAX_SLOTS = 1 << 20;

  private static volatile @Nullable Agent current;

  private final Options options;
  private final PrintStream out;
  private final ConcurrentSkipListMap<String, TimerFigures> figures = new ConcurrentSkipListMap<>();

  Agent(Options options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  static Agent current() {
    Agent agent = current;
    if (agent == null) {
      throw new IllegalStateException("no agent");
    }
    return agent;
  }

  /**
   * Makes this the agent that {@link #current} returns to changed classes.
   *
   * @return false if the JVM has an agent already, which stays in place
   */
  boolean install() {
    synchronized (Agent.class) {
      if (current != null) {
        return false;
      }
      current = this;
      return true;
    }
  }

  Options options() {
    return options;
  }

  /**
   * Makes the engine of a timer. Reduces the tick and the number of slots to core's limits, which
   * are lower than Netty's.
   */
  @Nullable Object[] attach(Object timer, long tickNanos, int slots, @Nullable AtomicLong pending) {
    TimerFigures ofClass =
        figures.computeIfAbsent(
            timer.getClass().getName(), name -> new TimerFigures(name, options.measures()));
    Duration own = Duration.ofNanos(tickNanos);
    Duration wanted = options.tick() == null ? own : options.tick();
    Duration tick = wanted.compareTo(MAX_TICK) > 0 ? MAX_TICK : wanted;
    WheelEngine engine =
        new WheelEngine(options, ofClass, tick, Math.min(slots, MAX_SLOTS), pending);
    ofClass.add(engine);
    return engine.parts();
  }

  /**
   * Prints a line about a class that was replaced, watched or left alone, unless the report is
   * {@code none}.
   */
  void note(String text) {
    if (options.report() != Options.Report.NONE) {
      print(text);
    }
  }

  /**
   * Prints to a stream. The agent uses no logger here, because the first logger of a JVM determines
   * the log manager, which the application may want to choose.
   */
  void print(String text) {
    out.println("[timewheel-agent] " + text);
  }

  /** Prints the figures of all timers. */
  void report() {
    List<TimerFigures> all = List.copyOf(figures.values());
    print(
        (options.compares() ? "the application's own timers" : "timers on Timewheel")
            + (all.isEmpty() ? ": none" : ":"));
    for (TimerFigures each : all) {
      print("  " + each);
    }
  }
}
