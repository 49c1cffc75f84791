// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import io.timewheel.WheelTimer;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.AbstractQueue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the timeouts of one application timer. If the timer keeps its own wheel, only measures them.
 *
 * <p>The application's classes and this class call each other through interfaces of the JDK only.
 * {@link TimerSeam} and {@link TimeoutSeam} are the application's side.
 *
 * <p>The application's timeout has its own state, which decides a race between cancel and expiry.
 * On a cancel, the engine only removes the timeout from the wheel.
 */
final class WheelEngine
    implements BooleanSupplier, Runnable, Supplier<Collection<Object>>, Consumer<Object> {
  private static final String STOPPED = "cannot be started once stopped";

  /** True for classes of tasks that override {@code TimerTask.cancelled} of Netty 4.2. */
  private static final ClassValue<Boolean> NOTIFIED =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          try {
            for (Method method : type.getMethods()) {
              Class<?> owner = method.getDeclaringClass();
              if (method.getName().equals("cancelled")
                  && (!owner.isInterface() || owner.getInterfaces().length > 0)) {
                return true; // not the empty default of TimerTask, which extends no interface
              }
            }
            return false;
          } catch (LinkageError e) {
            return true; // a type in a signature is missing
          }
        }
      };

  private final TimerFigures figures;

  /** Null if the application's timer keeps its own wheel. */
  private final @Nullable WheelTimer wheel;

  private final @Nullable AtomicLong applicationPending;
  private final String settings;
  private final @Nullable LongConsumer lag;

  /** Cancelled timeouts whose task is to be notified by the timer's thread. */
  private final Queue<BooleanSupplier> cancelled = new ConcurrentLinkedQueue<>();

  /** The loop of the Timewheel timer, which the application's thread runs. */
  private @Nullable Runnable loop;

  private volatile @Nullable Thread thread;
  private volatile boolean stopped;

  WheelEngine(
      Options options,
      TimerFigures figures,
      Duration tick,
      int slots,
      @Nullable AtomicLong applicationPending) {
    this.figures = figures;
    String name = figures.nextName();
    this.applicationPending = applicationPending;
    lag = options.measures() ? figures::late : null;
    if (options.compares()) {
      wheel = null;
      settings = "[own wheel, watched by Timewheel]";
    } else {
      wheel = wheel(options, name, tick, slots);
      settings = "[Timewheel, tick " + Options.text(tick) + "]";
    }
  }

  private WheelTimer wheel(Options options, String name, Duration tick, int slots) {
    WheelTimer.Builder<?> builder =
        options.wheel() == Options.Wheel.HASHED
            ? HashedWheelTimer.builder().ticksPerWheel(slots)
            : HierarchicalWheelTimer.builder();
    builder.tick(tick).name(name).threadFactory(this::keepLoop).stripes(options.stripes());
    return builder instanceof HashedWheelTimer.Builder hashed
        ? hashed.build()
        : ((HierarchicalWheelTimer.Builder) builder).build();
  }

  private Thread keepLoop(Runnable wheelLoop) {
    loop = wheelLoop;
    return new NeverStarted(wheelLoop);
  }

  /** Returns the objects for the constructor of the application's timer; see {@link Bridge}. */
  @Nullable Object[] parts() {
    return wheel == null
        ? new @Nullable Object[] {this, lag}
        : new @Nullable Object[] {this, lag, new Intake(this::start), new Intake(each -> {})};
  }

  // Called by the application's timer

  /**
   * Called when the application's thread has begun. Returns true if the thread must call {@link
   * #run}.
   */
  @Override
  public boolean getAsBoolean() {
    thread = Thread.currentThread();
    return wheel != null;
  }

  @Override
  public void run() {
    Runnable body = loop;
    if (body != null) {
      body.run();
      notifyCancelled();
    }
  }

  /** Stops the wheel, and interrupts a running task. Returns the timeouts that were pending. */
  @Override
  public Collection<Object> get() {
    if (!stopped) {
      stopped = true;
      Thread ending = thread;
      figures.stopped(this, ending);
    }
    List<Object> left = new ArrayList<>();
    if (wheel != null) {
      for (Timeout timeout : wheel.stop(Duration.ZERO)) {
        if (timeout.task() instanceof Entry entry) {
          left.add(entry.timeout);
        }
      }
    }
    return left;
  }

  @Override
  public String toString() {
    return settings;
  }

  // Called for each timeout

  /** Starts a timeout that the application has added to its queue. */
  private void start(Object timeout) {
    WheelTimer started = wheel;
    if (started == null) {
      throw new IllegalStateException(STOPPED);
    }
    Entry entry = new Entry((BooleanSupplier) timeout);
    @SuppressWarnings("unchecked")
    Consumer<Object> handle = (Consumer<Object>) timeout;
    try {
      handle.accept(started.newTimeout(entry, ((LongSupplier) timeout).getAsLong(), NANOSECONDS));
    } catch (IllegalStateException e) {
      throw started.isStopped() ? new IllegalStateException(STOPPED, e) : e;
    }
  }

  /**
   * Cancels the engine's timeout. If the timer's thread has already taken it, that thread notifies
   * the task. Otherwise, the thread does so at the next tick, or when it ends.
   *
   * @param handle null if a stop cancelled the timeout before this thread saw the handle
   */
  @Override
  public void accept(@Nullable Object handle) {
    if (handle instanceof Timeout started
        && started.cancel()
        && started.task() instanceof Entry entry
        && NOTIFIED.get(entry.taskClass())) {
      cancelled.add(entry.timeout);
      try {
        started.timer().newTimeout(tick -> notifyCancelled(), 0, NANOSECONDS);
      } catch (IllegalStateException e) {
        // The timer is stopped, so its thread is about to end.
      }
    }
  }

  private void notifyCancelled() {
    for (BooleanSupplier each = cancelled.poll(); each != null; each = cancelled.poll()) {
      try {
        boolean unused = each.getAsBoolean();
      } catch (Throwable e) {
        System.getLogger("io.timewheel.agent").log(Level.WARNING, "a cancelled task threw", e);
      }
    }
  }

  // Figures

  long pending() {
    if (wheel != null) {
      return wheel.pendingTimeouts();
    }
    return applicationPending == null ? 0 : applicationPending.get();
  }

  @Nullable Thread thread() {
    return thread;
  }

  boolean isStopped() {
    return stopped;
  }

  /** The task of the engine's timeout. */
  private record Entry(BooleanSupplier timeout) implements TimerTask {
    @Override
    public void run(Timeout expired) {
      boolean unused = timeout.getAsBoolean();
    }

    /** Returns the class of the application's task. */
    @Override
    public Class<?> taskClass() {
      return ((Supplier<?>) timeout).get().getClass();
    }
  }

  /**
   * A placeholder for the thread of the Timewheel timer. The application's thread runs the loop.
   */
  private static final class NeverStarted extends Thread {
    NeverStarted(Runnable loop) {
      super(null, loop, "timewheel-agent-unused", 0, false);
    }

    @Override
    public void start() {
      // Nothing to start: the application starts its own thread.
    }
  }

  /** A queue that passes each added element to a consumer, and stays empty. */
  private static final class Intake extends AbstractQueue<Object> {
    private final Consumer<Object> sink;

    Intake(Consumer<Object> sink) {
      this.sink = sink;
    }

    @Override
    public boolean offer(Object element) {
      sink.accept(element);
      return true;
    }

    @Override
    public @Nullable Object poll() {
      return null;
    }

    @Override
    public @Nullable Object peek() {
      return null;
    }

    @Override
    public Iterator<Object> iterator() {
      return Collections.emptyIterator();
    }

    @Override
    public int size() {
      return 0;
    }
  }
}
