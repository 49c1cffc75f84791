// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.SettingControl;
import jdk.jfr.SettingDefinition;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The events of Flight Recorder. {@link TimerLag} is the effect that the users of a timer notice.
 * {@link SlowTask} and {@link WorkerStall} are its two usual causes, one inside the application and
 * one outside.
 *
 * <h2>Cost</h2>
 *
 * A recording enables an event. Until the recorder is in use, each of the three call sites only
 * reads two fields; see {@link Events}. From then on, it calls {@link Event#isEnabled}. If no
 * recording has enabled the event, it makes no object and reads no clock. The result of {@code
 * isEnabled} is the same for the whole class, so the call sites ask a shared instance. In a class
 * that no recording has touched, the method is the constant false. The compiler inlines it and
 * removes all code that depends on it. Otherwise it is a field read. When a recording starts, it
 * replaces the method, and the JVM discards the code compiled for the old one. The three call sites
 * are in the expiry of a timeout and in the wake-up of the timer thread. Starting, moving and
 * cancelling have none.
 *
 * <p>While a recording runs, a task costs two readings of the recorder's clock, and a wake-up costs
 * one reading of the timer's clock. {@link TimerLag} costs no reading, because the lag is known
 * anyway.
 *
 * <h2>Time</h2>
 *
 * The recorder measures the duration of {@link SlowTask}, which has the usual threshold of events
 * with a duration. The other two are instants: the delay that they report is already over, and was
 * measured by the timer's {@link TimeSource}. A recorder accepts only durations that it has
 * measured. So the setting of these two is called {@code late}, after the field that it filters.
 */
final class JfrEvents {
  private static final TimerLag TIMER_LAG = new TimerLag();
  private static final SlowTask SLOW_TASK = new SlowTask();
  private static final WorkerStall WORKER_STALL = new WorkerStall();

  private JfrEvents() {}

  /** Reads the state of the recorder. Unlike its outer class, this class loads no event. */
  static final class Recorder {
    private Recorder() {}

    /**
     * {@return whether the recorder is initialised: a recording was made in this JVM, or the
     * recorder was used in another way}
     */
    static boolean isInitialized() {
      return FlightRecorder.isInitialized();
    }
  }

  /** {@return true; fails to link if the module is missing} */
  static boolean load() {
    return true;
  }

  static void taken(WheelTimeout timeout, Ticks ticks, long elapsedNanos) {
    if (TIMER_LAG.isEnabled()) {
      long deadlineNanos = timeout.deadlineNanos();
      TimerLag event = new TimerLag();
      event.lag = elapsedNanos - deadlineNanos;
      event.late = elapsedNanos - ticks.nanosAt(ticks.deadlineTick(deadlineNanos));
      if (event.shouldCommit()) {
        event.timer = timeout.timer().toString();
        event.taskClass = Callbacks.taskClass(timeout);
        event.commit();
      }
    }
  }

  static @Nullable Object taskBegins() {
    if (!SLOW_TASK.isEnabled()) {
      return null;
    }
    SlowTask event = new SlowTask();
    event.begin();
    return event;
  }

  static void taskEnded(Object begun, Timeout timeout) {
    SlowTask event = (SlowTask) begun;
    event.end();
    if (event.shouldCommit()) {
      event.timer = timeout.timer().toString();
      event.taskClass = Callbacks.taskClass(timeout);
      event.commit();
    }
  }

  static void woken(Engine engine, long planTick) {
    if (WORKER_STALL.isEnabled()) {
      WorkerStall event = new WorkerStall();
      event.late = engine.clock.elapsedNanos() - engine.clock.ticks.nanosAt(planTick);
      if (event.shouldCommit()) {
        event.timer = engine.timer.toString();
        event.commit();
      }
    }
  }

  /**
   * A timeout was taken from its wheel later than it should have been. Lag counts from the tick at
   * which the timeout should have run, because the timeout waits for that tick by design. With a
   * tick of 100 ms, nearly every lag exceeds 10 ms. The lag is the value that a {@link
   * TimerListener} receives. Neither includes time in the queue of an executor.
   */
  @Name("io.timewheel.TimerLag")
  @Label("Timer Lag")
  @Category("Timewheel")
  @Description("A task was run, or handed to the executor, later than at the tick of its deadline")
  @StackTrace(false)
  static final class TimerLag extends Event {
    @Label("Timer")
    @Nullable String timer;

    @Label("Task Class")
    @Nullable Class<?> taskClass;

    @Label("Lag")
    @Description("The time since the deadline")
    @Timespan(Timespan.NANOSECONDS)
    long lag;

    @Label("Late")
    @Description("The part of the lag that the length of a tick does not explain")
    @Timespan(Timespan.NANOSECONDS)
    long late;

    @SettingDefinition
    @Name("late")
    @Label("Late")
    @Description("Record events that are at least this late")
    boolean isLate(Least least) {
      return late >= least.nanos;
    }
  }

  /**
   * A task ran longer than the threshold, on any thread. On the timer thread, it delayed all
   * timeouts that fell due meanwhile.
   */
  @Name("io.timewheel.SlowTask")
  @Label("Slow Task")
  @Category("Timewheel")
  @Description("A task ran for a long time; on the timer thread, it delays all other tasks")
  @StackTrace(false)
  @Threshold("10 ms")
  static final class SlowTask extends Event {
    @Label("Timer")
    @Nullable String timer;

    @Label("Task Class")
    @Nullable Class<?> taskClass;
  }

  /**
   * The timer thread slept until a planned time, and woke this much later. No task delayed it: the
   * JVM was paused, the process or the machine was suspended, or no processor was free. Before the
   * thread sleeps, it takes the lock of each stripe once more. If the planned time passes while it
   * waits for a lock, that counts too. This event does not show a pause while the thread is awake,
   * nor one that ends before the planned time. The former appears as the lag of the timeouts that
   * were due.
   */
  @Name("io.timewheel.WorkerStall")
  @Label("Worker Stall")
  @Category("Timewheel")
  @Description(
      "The timer thread woke up later than planned: the JVM was paused, or no processor was free")
  @StackTrace(false)
  static final class WorkerStall extends Event {
    @Label("Timer")
    @Nullable String timer;

    @Label("Late")
    @Description("The time since the planned wake-up")
    @Timespan(Timespan.NANOSECONDS)
    long late;

    @SettingDefinition
    @Name("late")
    @Label("Late")
    @Description("Record events that are at least this late")
    boolean isLate(Least least) {
      return late >= least.nanos;
    }
  }

  /**
   * The least lag to record, written like a threshold of the recorder: {@code 10 ms}. Any other
   * text is ignored. If several recordings set it, the lowest value applies. This object stores
   * that value, because JDK 17 loses the result of {@link #combine} and sets null.
   */
  static final class Least extends SettingControl {
    private static final Pattern TIME = Pattern.compile("(\\d{1,18}) ?(ns|us|ms|s|m|h|d)");

    private String value = "10 ms";
    private String combined = value;
    volatile long nanos = 10_000_000;

    @Override
    public String combine(Set<String> values) {
      String least = value;
      long leastNanos = Long.MAX_VALUE;
      for (String each : values) {
        long eachNanos = nanos(each);
        if (eachNanos >= 0 && eachNanos < leastNanos) {
          least = each;
          leastNanos = eachNanos;
        }
      }
      combined = least;
      return least;
    }

    @Override
    public void setValue(@Nullable String newValue) {
      String wanted = newValue == null ? combined : newValue;
      long newNanos = nanos(wanted);
      if (newNanos >= 0) {
        value = wanted;
        nanos = newNanos;
      }
    }

    @Override
    public String getValue() {
      return value;
    }

    /** Returns the time in a text in nanoseconds; negative if the text is not a time. */
    private static long nanos(String text) {
      Matcher time = TIME.matcher(text);
      return time.matches() ? unit(time.group(2)).toNanos(Long.parseLong(time.group(1))) : -1;
    }

    private static TimeUnit unit(String name) {
      return switch (name) {
        case "ns" -> TimeUnit.NANOSECONDS;
        case "us" -> TimeUnit.MICROSECONDS;
        case "ms" -> TimeUnit.MILLISECONDS;
        case "s" -> TimeUnit.SECONDS;
        case "m" -> TimeUnit.MINUTES;
        case "h" -> TimeUnit.HOURS;
        default -> TimeUnit.DAYS;
      };
    }
  }
}
