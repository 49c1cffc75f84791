// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The loop of {@link Worker}, steps 1 to 5, with a real thread that really parks and is really
 * unparked: frames W1 to W5 and P1 to P5 of {@link WakeUp} including the permit, "that W5 has not
 * parked yet does no harm, since the permit of unpark makes it return at once".
 *
 * <p>A worker that is not woken is told from one that is by a park of several seconds, which an
 * unpark would have ended at once.
 */
public final class WorkerStress {
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** Held here, because the logging API itself holds loggers weakly. */
  private static final Logger CORE_LOGGER = Logger.getLogger("io.timewheel");

  static {
    CORE_LOGGER.setLevel(Level.OFF); // a worker dies in every sample of one test
  }

  private WorkerStress() {}

  /** A worker whose parking a test can watch. */
  abstract static class Watched extends Rig {
    final Worker worker = new Worker(engine);

    Watched(int stripes) {
      super(stripes, settings -> {});
    }

    /** Runs the worker on the current thread until it ends. */
    void work() {
      takePermit();
      worker.run();
    }

    /** Ends the worker, from inside of its own park. */
    void end() {
      worker.stop(Duration.ZERO);
    }

    /** Uses up what an earlier sample left on this thread: who is interrupted does not wait. */
    private static void takePermit() {
      Thread.currentThread().interrupt();
      LockSupport.park(Watched.class);
      Thread.interrupted();
    }

    /** Parks for good. False if nobody ended that. */
    static boolean parkIsEnded() {
      long begunNanos = System.nanoTime();
      LockSupport.parkNanos(Watched.class, LOST_NANOS);
      return System.nanoTime() - begunNanos < LOST_NANOS / 2;
    }

    static void await(BooleanSupplier condition) {
      while (!condition.getAsBoolean()) {
        Thread.onSpinWait();
      }
    }
  }

  /** Timeouts due at 3 and 5 are started while a worker is going to sleep until 100. */
  abstract static class Sleepy extends Watched {
    private final int producers;
    private final AtomicInteger done = new AtomicInteger();
    final Rig.Task task = new Rig.Task();
    int sleptFor;

    Sleepy(int stripes, int producers) {
      super(stripes);
      this.producers = producers;
      start(task, 100);
    }

    void produce(long delayNanos) {
      start(task, delayNanos);
      done.incrementAndGet();
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      if (deadlineNanos == 3) {
        sleptFor = 3; // knows of the earliest: nothing can be lost any more
        end();
        return;
      }
      // When all producers are through, nobody is left to wake it who has not done so.
      await(() -> done.get() == producers);
      if (!parkIsEnded()) {
        sleptFor = (int) deadlineNanos;
        end();
      }
    }
  }

  /** One producer. */
  @JCStressTest
  @Outcome(id = "3", expect = ACCEPTABLE, desc = "Sleeps until the earlier deadline in the end.")
  @Outcome(expect = FORBIDDEN, desc = "Lost wake-up: sleeps past the deadline.")
  @State
  public static class Start extends Sleepy {
    public Start() {
      super(1, 1);
    }

    @Actor
    public void worker(I_Result r) {
      work();
      r.r1 = sleptFor;
    }

    @Actor
    public void producer() {
      produce(3);
    }
  }

  /** Two producers with different deadlines, on one stripe or on two. */
  @JCStressTest
  @Outcome(id = "3", expect = ACCEPTABLE, desc = "Sleeps until the earliest deadline in the end.")
  @Outcome(expect = FORBIDDEN, desc = "Lost wake-up: sleeps past a deadline.")
  @State
  public static class StartStart extends Sleepy {
    public StartStart() {
      super(2, 2);
    }

    @Actor
    public void worker(I_Result r) {
      work();
      r.r1 = sleptFor;
    }

    @Actor
    public void early() {
      produce(3);
    }

    @Actor
    public void late() {
      produce(5);
    }
  }

  /**
   * The timer is stopped while its worker is going to sleep for ever; step 4 looks at {@code
   * stopping} after the plan, and {@link WakeUp#wake} unparks whatever the plan is.
   */
  @JCStressTest
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The worker ended, and stop saw it.")
  @Outcome(expect = FORBIDDEN, desc = "The worker sleeps for ever, or stop did not wait for it.")
  @State
  public static class Stop extends Watched {
    private boolean lost;

    public Stop() {
      super(1);
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      if (!parkIsEnded()) {
        lost = true;
        end();
      }
    }

    @Actor
    public void worker(II_Result r) {
      work();
      r.r1 = asInt(lost);
    }

    @Actor
    public void stopper(II_Result r) {
      worker.stop(Duration.ofSeconds(60));
      r.r2 = 1;
    }
  }

  /**
   * The worker dies while a timeout is started: "if it ends for any other reason than being
   * stopped, it fails the engine".
   */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Refused.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Accepted while it lived; stop returns it.")
  @Outcome(expect = FORBIDDEN, desc = "Lost, or accepted after the death.")
  @State
  public static class Death extends Watched {
    private final Rig.Task task = new Rig.Task();

    public Death() {
      super(1);
    }

    @Override
    public void parkUntil(long deadlineNanos, Object blocker) {
      throw new OutOfMemoryError("for the test");
    }

    @Actor
    public void worker() {
      work();
    }

    @Actor
    public void producer(II_Result r) {
      r.r1 = tryStart(task, 5);
    }

    @Arbiter
    public void end(II_Result r) {
      r.r2 = 10 * tryStart(task, 5) + stop();
    }
  }
}
