// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.timewheel.HashedWheelTimer;
import io.timewheel.HierarchicalWheelTimer;
import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import io.timewheel.WheelTimer;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.AbstractQueue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
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
@SuppressWarnings("overloads") // andThen of two interfaces, which has no caller
final class WheelEngine
    implements BooleanSupplier,
        Runnable,
        Supplier<Collection<Object>>,
        LongConsumer,
        Consumer<Object> {
  private static final String STOPPED = "cannot be started once stopped";

  private final TimerFigures figures;

  /** Null if the application's timer keeps its own wheel. */
  private final @Nullable WheelTimer wheel;

  private final @Nullable AtomicLong applicationPending;
  private final String settings;

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
    builder.tick(tick).name(name).threadFactory(this::keepLoop);
    Integer stripes = options.stripes();
    if (stripes != null) {
      builder.stripes(stripes);
    }
    return builder instanceof HashedWheelTimer.Builder hashed
        ? hashed.build()
        : ((HierarchicalWheelTimer.Builder) builder).build();
  }

  private Thread keepLoop(Runnable wheelLoop) {
    loop = wheelLoop;
    return new NeverStarted(wheelLoop);
  }

  /** Returns the objects for the constructor of the application's timer; see {@link Bridge}. */
  Object[] parts() {
    return wheel == null
        ? new Object[] {this}
        : new Object[] {this, new Intake(this::start), new Intake(cancelled -> {})};
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
        left.add(((Entry) timeout.task()).timeout);
      }
    }
    return left;
  }

  /** Records the lateness of a timeout that expires. */
  @Override
  public void accept(long lateNanos) {
    figures.late(lateNanos);
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
   * Cancels the engine's timeout, or logs the exception of a task that was notified of a cancel.
   */
  @Override
  public void accept(@Nullable Object handleOrError) {
    // It is null if a stop cancelled the timeout before this thread saw the handle.
    if (handleOrError instanceof Timeout handle) {
      handle.cancel();
    } else if (handleOrError instanceof Throwable error) {
      System.getLogger("io.timewheel.agent").log(Level.WARNING, "a cancelled task threw", error);
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

    /**
     * Returns the class of the application's task. Gets the task through a public interface of the
     * application's timeout.
     */
    @Override
    public Class<?> taskClass() {
      for (Class<?> type : timeout.getClass().getInterfaces()) {
        try {
          return type.getMethod("task").invoke(timeout).getClass();
        } catch (ReflectiveOperationException e) {
          // this interface has no such method
        }
      }
      return timeout.getClass();
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
