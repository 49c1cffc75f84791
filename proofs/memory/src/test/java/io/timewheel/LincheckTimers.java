// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jspecify.annotations.Nullable;

/**
 * Timers for Lincheck: objects whose operations must return the results of some sequential order
 * that agrees with the order of the calls. {@link LincheckSpecifications} defines the sequential
 * results.
 *
 * <p>Each operation receives the time as an argument. In a real timer, it reads the clock, and only
 * then takes the lock (contract, 1: "now is read inside newTimeout"). If the clock advances in
 * between, the operation has no single moment, as Lincheck requires.
 */
final class LincheckTimers {

  private static final VarHandle ENGINE;
  private static final VarHandle WORKER;
  private static final VarHandle RUNNER;

  static {
    try {
      MethodHandles.Lookup lookup =
          MethodHandles.privateLookupIn(WheelTimer.class, MethodHandles.lookup());
      ENGINE = lookup.findVarHandle(WheelTimer.class, "engine", Engine.class);
      WORKER = lookup.findVarHandle(WheelTimer.class, "worker", Worker.class);
      RUNNER =
          MethodHandles.privateLookupIn(Worker.class, MethodHandles.lookup())
              .findVarHandle(Worker.class, "runner", Thread.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private LincheckTimers() {}

  /**
   * A clock that is zero for all threads except the one that polls. Only one thread polls at a
   * time.
   */
  abstract static class Base implements TimeSource {
    private final Engine engine;
    final HashedWheelTimer timer;
    private @Nullable Thread poller;
    private long pollNanos;
    private int polled;

    Base(int stripes) {
      timer =
          HashedWheelTimer.builder()
              .tick(Duration.ofNanos(1))
              .ticksPerWheel(8)
              .stripes(stripes)
              .timeSource(this)
              .build();
      // The timer must assume that its thread has begun. Otherwise, the first timeout would start
      // it.
      RUNNER.setVolatile((Worker) WORKER.get(timer), new Thread());
      engine = (Engine) ENGINE.get(timer);
    }

    @Override
    public long nanoTime() {
      return Thread.currentThread() == poller ? pollNanos : 0;
    }

    /** Runs at most one task, and returns its name. */
    synchronized int pollAt(int nowNanos) {
      pollNanos = nowNanos;
      polled = -1;
      poller = Thread.currentThread();
      engine.runDue(1);
      poller = null;
      return polled;
    }

    Timeout start(int name, int tick) {
      return timer.newTimeout(new Named(this, name), tick, TimeUnit.NANOSECONDS);
    }

    boolean tryStart(int name, int tick) {
      try {
        start(name, tick);
        return true;
      } catch (IllegalStateException e) {
        return false;
      }
    }
  }

  /**
   * A task that reports its name to the poll that runs it. It is a class, because Lincheck cannot
   * instrument lambdas and records.
   */
  private static final class Named implements TimerTask {
    private final Base timer;
    private final int name;

    Named(Base timer, int name) {
      this.timer = timer;
      this.name = name;
    }

    @Override
    public void run(Timeout timeout) {
      timer.polled = name;
    }
  }

  /** One stripe that is not stopped, with three timeouts for which threads compete. */
  @Param(name = "old", gen = IntGen.class, conf = "0:2")
  @Param(name = "tick", gen = IntGen.class, conf = "1:4")
  public static class Running extends Base {
    private final Timeout[] old = new Timeout[3];

    public Running() {
      super(1);
      for (int i = 0; i < old.length; i++) {
        old[i] = start(i, i + 1);
      }
    }

    @Operation
    public boolean newTimeout(@Param(name = "tick") int tick) {
      return tryStart(10 + tick, tick);
    }

    @Operation
    public boolean cancel(@Param(name = "old") int i) {
      return old[i].cancel();
    }

    @Operation
    public boolean reschedule(@Param(name = "old") int i, @Param(name = "tick") int tick) {
      return old[i].reschedule(tick, TimeUnit.NANOSECONDS);
    }

    @Operation
    public int poll(@Param(name = "tick") int tick) {
      return pollAt(tick);
    }

    @Operation
    public long pendingTimeouts() {
      return timer.pendingTimeouts();
    }
  }

  /**
   * One stripe that is stopped while threads start and poll. For these operations, the timer ends
   * when the stripe is closed. If two threads stop it at the same time, the drain decides which of
   * them returns a timeout, so this class does not specify that.
   */
  @Param(name = "tick", gen = IntGen.class, conf = "1:4")
  public static class Closing extends Base {
    public Closing() {
      super(1);
      start(0, 1);
    }

    @Operation
    public boolean newTimeout(@Param(name = "tick") int tick) {
      return tryStart(10 + tick, tick);
    }

    @Operation
    public int poll(@Param(name = "tick") int tick) {
      return pollAt(tick);
    }

    @Operation
    public void stop() {
      timer.stop(Duration.ZERO);
    }
  }

  /**
   * One stripe that is stopped while threads cancel, move and count. For these operations, the
   * timer ends when the stripe is drained.
   */
  @Param(name = "old", gen = IntGen.class, conf = "0:2")
  @Param(name = "tick", gen = IntGen.class, conf = "1:4")
  public static class Draining extends Base {
    private final Timeout[] old = new Timeout[3];

    public Draining() {
      super(1);
      for (int i = 0; i < old.length; i++) {
        old[i] = start(i, i + 1);
      }
    }

    @Operation
    public boolean cancel(@Param(name = "old") int i) {
      return old[i].cancel();
    }

    @Operation
    public boolean reschedule(@Param(name = "old") int i, @Param(name = "tick") int tick) {
      return old[i].reschedule(tick, TimeUnit.NANOSECONDS);
    }

    @Operation
    public long pendingTimeouts() {
      return timer.pendingTimeouts();
    }

    @Operation
    public int stop() {
      Set<Timeout> drained = timer.stop(Duration.ZERO);
      int names = 0;
      for (int i = 0; i < old.length; i++) {
        names |= drained.contains(old[i]) ? 1 << i : 0;
      }
      return names;
    }
  }

  /**
   * Several stripes, each thread on its own stripe or sharing one, depending on its ID. Only
   * timeout 0 is ever due, so a poll, which visits one stripe after the other, has one result. The
   * other timeouts only fill the wheels.
   */
  abstract static class Striped extends Base {
    private static final int NOW = 2;

    private final Timeout[] started = new Timeout[3];
    private final Object[] naming = {new Object(), new Object(), new Object()};

    Striped(int stripes) {
      super(stripes);
    }

    boolean start(int i, boolean soon) {
      synchronized (naming[i]) {
        if (started[i] != null) {
          return false;
        }
        started[i] = start(i, tick(i, soon));
        return true;
      }
    }

    boolean cancel(int i) {
      Timeout timeout = started(i);
      return timeout != null && timeout.cancel();
    }

    boolean reschedule(int i, boolean soon) {
      Timeout timeout = started(i);
      return timeout != null && timeout.reschedule(tick(i, soon), TimeUnit.NANOSECONDS);
    }

    int poll() {
      return pollAt(NOW);
    }

    private @Nullable Timeout started(int i) {
      synchronized (naming[i]) {
        return started[i];
      }
    }

    private static int tick(int i, boolean soon) {
      return i == 0 && soon ? 1 : 100;
    }
  }

  /** Two stripes. */
  @Param(name = "name", gen = IntGen.class, conf = "0:2")
  public static class TwoStripes extends Striped {
    public TwoStripes() {
      super(2);
    }

    @Override
    @Operation
    public boolean start(@Param(name = "name") int i, @Param(gen = BooleanGen.class) boolean soon) {
      return super.start(i, soon);
    }

    @Override
    @Operation
    public boolean cancel(@Param(name = "name") int i) {
      return super.cancel(i);
    }

    @Override
    @Operation
    public boolean reschedule(
        @Param(name = "name") int i, @Param(gen = BooleanGen.class) boolean soon) {
      return super.reschedule(i, soon);
    }

    @Override
    @Operation
    public int poll() {
      return super.poll();
    }
  }

  /** Four stripes, so that three threads are more often on three different ones. */
  @Param(name = "name", gen = IntGen.class, conf = "0:2")
  public static class FourStripes extends Striped {
    public FourStripes() {
      super(4);
    }

    @Override
    @Operation
    public boolean start(@Param(name = "name") int i, @Param(gen = BooleanGen.class) boolean soon) {
      return super.start(i, soon);
    }

    @Override
    @Operation
    public boolean cancel(@Param(name = "name") int i) {
      return super.cancel(i);
    }

    @Override
    @Operation
    public boolean reschedule(
        @Param(name = "name") int i, @Param(gen = BooleanGen.class) boolean soon) {
      return super.reschedule(i, soon);
    }

    @Override
    @Operation
    public int poll() {
      return super.poll();
    }
  }

  /** The limit on pending timeouts, without a timer. The limit is two. */
  public static class Limit {
    private final PendingLimit limit = new PendingLimit(2);

    @Operation
    public boolean acquire() {
      return limit.tryAcquire();
    }

    @Operation
    public void release() {
      limit.release(1);
    }
  }
}
