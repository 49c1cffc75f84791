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
 * The events of Flight Recorder: {@link TimerLag} is what the users of a timer feel; {@link
 * SlowTask} and {@link WorkerStall} are its two usual causes, one inside the program and one
 * outside.
 *
 * <h2>Cost</h2>
 *
 * A recording switches an event on. Until the recorder is in use, each of the three call sites
 * reads two fields and does nothing more; see {@link Events}. From then on it asks {@link
 * Event#isEnabled}, and if no recording wants the event, makes no object and reads no clock. {@code
 * isEnabled} is per class, so we ask a shared instance: in a class that no recording has touched,
 * the answer is the constant false, which the compiler can inline and remove with all that depends
 * on it; otherwise it is a field read. Starting a recording replaces the method, and the JVM
 * discards the code compiled for the old one. The three call sites are in the expiry of a timeout
 * and in the wake-up of the timer thread; starting, moving and cancelling have none.
 *
 * <p>While a recording runs, a task costs two readings of the recorder's clock, and a wake-up one
 * reading of the timer's. {@link TimerLag} costs no reading: the lag is known anyway.
 *
 * <h2>Time</h2>
 *
 * The recorder measures the duration of {@link SlowTask}, whose threshold is the usual one of
 * events with a duration. The other two are instants: what they report has passed, in the time of
 * the timer's {@link TimeSource}, and a recorder accepts no duration that it has not measured. So
 * their setting is called {@code late}, after the field that it filters.
 */
final class JfrEvents {
  private static final TimerLag TIMER_LAG = new TimerLag();
  private static final SlowTask SLOW_TASK = new SlowTask();
  private static final WorkerStall WORKER_STALL = new WorkerStall();

  private JfrEvents() {}

  /** Looks at the recorder. Unlike its outer class, this one loads no event. */
  static final class Recorder {
    private Recorder() {}

    /** {@return whether a recording was made in this JVM, or the recorder used in another way} */
    static boolean isInitialized() {
      return FlightRecorder.isInitialized();
    }
  }

  /** {@return true, or fails to link} */
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
   * A timeout was taken from its wheel later than it should have been. Lateness counts from the
   * tick at which it should have run, because until that tick it waits by design: with a tick of
   * 100 ms, nearly every lag is longer than 10 ms. The lag itself is the one that a {@link
   * TimerListener} receives. Neither includes time in the queue of an executor.
   */
  @Name("io.timewheel.TimerLag")
  @Label("Timer Lag")
  @Category("Timewheel")
  @Description(
      "A task was run, or handed to the executor, later than at the tick that its deadline is in")
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
    @Description("Record what is as late as this, or later")
    boolean isLate(Least least) {
      return late >= least.nanos;
    }
  }

  /**
   * A task ran longer than the threshold, on any thread. On the timer thread, it held up everything
   * due meanwhile.
   */
  @Name("io.timewheel.SlowTask")
  @Label("Slow Task")
  @Category("Timewheel")
  @Description("A task took long; on the timer's own thread it delays every other")
  @StackTrace(false)
  @Threshold("10 ms")
  static final class SlowTask extends Event {
    @Label("Timer")
    @Nullable String timer;

    @Label("Task Class")
    @Nullable Class<?> taskClass;
  }

  /**
   * The timer thread slept until a planned time, and woke this much later. No task was in its way:
   * the JVM was paused, the process or the machine stood still, or no processor was free. Before it
   * sleeps, the thread takes the lock of each stripe once more; if the planned time passes while it
   * waits for one, that counts too. A pause that hits the timer thread while it is up, or that is
   * over before the planned time, is not seen here; the former shows as the lag of what was due.
   */
  @Name("io.timewheel.WorkerStall")
  @Label("Worker Stall")
  @Category("Timewheel")
  @Description(
      "The timer's thread woke up later than it had planned: a pause of the JVM, or no processor")
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
    @Description("Record what is as late as this, or later")
    boolean isLate(Least least) {
      return late >= least.nanos;
    }
  }

  /**
   * The least lateness to record, written like a threshold of the recorder: {@code 10 ms}. Anything
   * else is ignored. Of several recordings, the one that wants most wins: its value is remembered
   * here, because JDK 17 loses what {@link #combine} returns, and sets null.
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

    /** Negative if the text is not a time. */
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
