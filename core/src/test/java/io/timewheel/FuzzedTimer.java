// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * A timer on a clock that moves on command, next to a naive model: a list of the started timeouts.
 * A program of {@link FuzzOp}s drives both. Tasks, and the callbacks of cancelled timeouts, run
 * parts of the same program. So every operation is also called from inside every other one.
 *
 * <p>The model has no slots and levels. A timeout is due at a time if there is a tick that begins
 * at or after its deadline, and not after that time.
 */
final class FuzzedTimer {
  private static final int MAX_PENDING = 120;
  private static final int MAX_DEPTH = 12;

  /** The maximum number of operations of a program, because tasks may start each other forever. */
  private static final int FUEL = 300;

  private final FuzzClock clock;
  private final FuzzExecutor executor;
  private final long limit;
  private final int policyKind;
  private final boolean linksChecked;
  private final boolean listening;
  private final boolean listenerThrows;

  private final Timer timer;
  private final Wheel wheel;
  private final List<List<FuzzOp>> scripts = new ArrayList<>();

  // The model

  private final List<Task> pending = new ArrayList<>();
  private final List<Task> all = new ArrayList<>();
  private final Deque<Poll> polls = new ArrayDeque<>();
  private boolean stopped;
  private long started;

  /** The tasks whose runs have not ended, the innermost first. */
  private final Deque<Task> running = new ArrayDeque<>();

  private long rescheduled;
  private long expired;
  private long cancelled;
  private long failed;
  private long maxLagNanos;
  private long thrown;
  private long handled;
  private int calls;
  private int fuel = FUEL;
  private int depth;
  private long done;

  /**
   * The first failure. Callbacks store it here, because the timer catches everything that a task
   * throws.
   */
  private Throwable failure;

  FuzzedTimer(List<FuzzOp> program) {
    clock = new FuzzClock(program);
    executor = new FuzzExecutor(program);
    limit = FuzzOp.setting(program, "limit", 0);
    policyKind = (int) FuzzOp.setting(program, "policy", 0);
    linksChecked = FuzzOp.setting(program, "links", 1) != 0;
    int listenerKind = (int) FuzzOp.setting(program, "listener", 0);
    listening = listenerKind != 0 || executor.kind != FuzzExecutor.NONE;
    listenerThrows = listenerKind == 2;
    int slots = (int) FuzzOp.setting(program, "slots", 0);
    PolledTimer.Builder builder =
        PolledTimer.builder()
            .tick(Duration.ofNanos(clock.tickNanos))
            .maxPendingTimeouts(limit)
            .timeSource(clock::reading)
            .onError((timeout, error) -> handled++);
    if (executor.kind != FuzzExecutor.NONE) {
      builder.executor(executor);
    }
    if (policyKind != 0) {
      builder.onRejected(this::onRejected);
    }
    if (listening) {
      builder.listener(new Listener());
    }
    if (slots > 0) {
      EngineTimer engineTimer =
          new EngineTimer(builder, ticks -> new HashedWheel(ticks, Integer.highestOneBit(slots)));
      timer = engineTimer;
      wheel = wheelOf(engineTimer.engine);
    } else {
      timer = builder.build();
      wheel = wheelOf((Engine) field(timer, "engine"));
    }
    scripts.add(new ArrayList<>());
    for (FuzzOp op : program) {
      if (op.name().equals("script")) {
        scripts.add(new ArrayList<>());
      } else {
        scripts.get(scripts.size() - 1).add(op);
      }
    }
  }

  /**
   * Runs the program, then advances the clock until no timeout can expire, and stops the timer.
   * Returns the number of operations.
   */
  long run() {
    try {
      runAll();
    } finally {
      Thread.interrupted();
    }
    if (failure != null) {
      throw new AssertionError(failure.getMessage(), failure);
    }
    return done;
  }

  private void runAll() {
    runScript(0);
    depth = 1; // operations from here on run in callbacks
    fuel = 0;
    while (!stopped && failure == null && pending.stream().anyMatch(this::dueByTheEnd)) {
      long nextNanos =
          pending.stream()
              .filter(this::dueByTheEnd)
              .mapToLong(task -> clock.dueNanos(task.deadlineNanos))
              .min()
              .getAsLong();
      clock.advance(Math.max(nextNanos, clock.seenNanos()) - clock.offsetNanos());
      long before = expired;
      poll(Integer.MAX_VALUE);
      require(expired > before, "a due timeout does not expire", clock.offsetNanos());
    }
    executor.runAccepted();
    stop();
    check();
    for (Task task : all) {
      task.checkEnd();
    }
  }

  // Operations

  private void runScript(int number) {
    if (depth >= MAX_DEPTH || failure != null) {
      return;
    }
    depth++;
    try {
      for (FuzzOp op : scripts.get(number)) {
        if (failure != null || (depth > 1 && fuel-- <= 0)) {
          return;
        }
        apply(op);
        done++;
        check();
      }
    } finally {
      depth--;
    }
  }

  private void apply(FuzzOp op) {
    long a = op.a();
    long b = op.b();
    switch (op.name()) {
      case "start" -> start(clock.nanos(Math.abs(a)), b);
      case "startNanos" -> start(a, b);
      case "startMany" -> {
        for (int i = 0; i < 70; i++) {
          start(clock.nanos(Math.abs(a)), b);
        }
      }
      case "cancel" -> cancel(pick(a));
      case "move" -> move(pick(a), clock.nanos(Math.abs(b)));
      case "moveNanos" -> move(pick(a), b);
      case "rearm" -> move(running.peek(), clock.nanos(Math.abs(b)));
      case "advance" -> clock.advance(clock.nanos(Math.abs(a)) + b);
      case "advanceNanos" -> clock.advance(a);
      case "advanceNext" ->
          pending.stream()
              .mapToLong(task -> task.deadlineNanos)
              .min()
              .ifPresent(nanos -> clock.advance(nanos - clock.offsetNanos() + a % 2));
      case "poll" -> poll(a == 0 ? Integer.MAX_VALUE : (int) Math.abs(a % 100));
      case "stop" -> stop();
      case "runAccepted" -> executor.runAccepted();
      case "throw" -> {
        if (depth > 1) {
          throw new Thrown();
        }
      }
      case "interrupt" -> Thread.currentThread().interrupt();
      default -> {} // a setting
    }
  }

  private void start(long delayNanos, long script) {
    if (pending.size() >= MAX_PENDING) {
      return;
    }
    Task task = new Task((int) Math.floorMod(script, (long) scripts.size()));
    task.deadlineNanos = clock.deadlineNanos(delayNanos);
    task.late = clock.dueNanos(task.deadlineNanos) <= clock.seenNanos();
    clock.see();
    boolean full = limit > 0 && pending.size() >= limit;
    if (!stopped && !full) {
      // Update the model first, because a listener may call the timer before newTimeout returns.
      pending.add(task);
      started++;
    }
    try {
      task.timeout = timer.newTimeout(task, delayNanos, TimeUnit.NANOSECONDS);
      require(!stopped && !full, "accepted a timeout", pending.size());
      require(task.timeout.task() == task && task.timeout.timer() == timer, "not its own task");
      all.add(task);
    } catch (IllegalStateException e) {
      require(stopped, "refused as if stopped");
    } catch (RejectedExecutionException e) {
      require(full && !stopped, "refused as if full", pending.size());
      require(e.getMessage().contains("" + limit), e.getMessage());
    }
  }

  private void cancel(Task task) {
    if (task == null || task.timeout == null) {
      return;
    }
    boolean expected = task.state == State.PENDING;
    if (expected) {
      task.cancelled(); // first, because of the callback
    }
    boolean actual = task.timeout.cancel();
    require(actual == expected, "cancel() returned " + actual);
    if (expected) {
      require(task.notified == 1, "cancelled() was called, in cancel()", task.notified);
    }
  }

  private void move(Task task, long delayNanos) {
    if (task == null || task.timeout == null) {
      return;
    }
    boolean moving = task.state == State.PENDING;
    boolean rearming = task.running && task.state == State.RAN && !stopped;
    boolean expected = moving || rearming;
    long oldNanos = task.deadlineNanos;
    if (expected) {
      task.deadlineNanos = clock.deadlineNanos(delayNanos);
      task.late = clock.dueNanos(task.deadlineNanos) <= clock.seenNanos();
    }
    if (moving) {
      rescheduled++;
    } else if (rearming) {
      task.state = State.PENDING;
      pending.add(task);
      started++;
    }
    clock.see();
    long nowNanos = clock.elapsedNanos();
    boolean actual = task.timeout.reschedule(delayNanos, TimeUnit.NANOSECONDS);
    require(actual == expected, "reschedule() returned " + actual, oldNanos);
    if (clock.elapsedNanos() == nowNanos && task.state == State.PENDING) {
      require(
          task.timeout.remaining(TimeUnit.NANOSECONDS) == task.deadlineNanos - nowNanos,
          "remaining",
          task.deadlineNanos);
    }
  }

  private void poll(int max) {
    if (depth >= MAX_DEPTH) {
      return;
    }
    clock.see();
    Poll poll = new Poll(clock.elapsedNanos(), max, stopped);
    polls.push(poll);
    boolean interrupted = Thread.currentThread().isInterrupted();
    int ran = timer instanceof PolledTimer polled ? polled.poll(max) : engineTimer().poll(max);
    polls.pop();
    require(
        !interrupted || Thread.currentThread().isInterrupted(),
        "poll() cleared the interrupt flag");
    require(ran == poll.ran, "poll() returned, and this ran", ran, poll.ran);
    if (ran < max && !stopped) {
      for (Task task : pending) {
        require(
            !clock.isDue(task.deadlineNanos, poll.nowNanos),
            "late",
            task.deadlineNanos,
            poll.nowNanos);
      }
    }
  }

  private void stop() {
    if (!polls.isEmpty()) {
      try {
        timer.stop();
        require(false, "stop() inside poll() returned");
      } catch (IllegalStateException e) {
        return;
      }
    }
    List<Task> expected = new ArrayList<>();
    if (!stopped) {
      expected.addAll(pending);
      expected.forEach(Task::cancelled);
      stopped = true;
    }
    Thread.interrupted(); // otherwise, stop() would not wait
    Set<Timeout> returned = timer.stop();
    require(returned.size() == expected.size(), "stop() returned", returned.size());
    for (Task task : expected) {
      require(returned.contains(task.timeout), "stop() did not return all");
      require(task.notified == 1, "cancelled() was called, in stop()", task.notified);
    }
    require(timer.isStopped(), "isStopped() after stop()");
  }

  private boolean dueByTheEnd(Task task) {
    return clock.dueNanos(task.deadlineNanos) < Long.MAX_VALUE;
  }

  private EngineTimer engineTimer() {
    return (EngineTimer) timer;
  }

  /** Returns a random timeout, in most cases a pending one. */
  private Task pick(long number) {
    List<Task> from = number % 8 == 0 || pending.isEmpty() ? all : pending;
    return from.isEmpty() ? null : from.get((int) Math.floorMod(number / 8, (long) from.size()));
  }

  // Checks

  /** Checks everything that holds between any two operations. */
  private void check() {
    if (failure != null) {
      return;
    }
    try {
      checkAll();
    } catch (AssertionError e) {
      failure = e;
    }
  }

  private void checkAll() {
    require(timer.pendingTimeouts() == pending.size(), "pending", timer.pendingTimeouts());
    TimerStats stats = timer.stats();
    require(stats.pending() == pending.size(), "stats: pending", stats.pending(), pending.size());
    require(stats.started() == started, "stats: started", stats.started(), started);
    require(stats.rescheduled() == rescheduled, "stats: rescheduled", stats.rescheduled());
    require(stats.expired() == expired, "stats: expired", stats.expired(), expired);
    require(stats.cancelled() == cancelled, "stats: cancelled", stats.cancelled(), cancelled);
    require(stats.failed() == failed, "stats: failed", stats.failed(), failed);
    require(stats.rejected() == executor.rejected(), "stats: rejected", stats.rejected());
    require(started == expired + cancelled + pending.size(), "balance");
    require(stats.maxLagNanos() == maxLagNanos, "stats: lag", stats.maxLagNanos(), maxLagNanos);
    require(handled == thrown, "errors handled", handled, thrown);
    if (linksChecked) {
      IdentityHashMap<Node, Slot> places = WheelChecks.check(wheel, true);
      require(places.size() == pending.size(), "in the wheel", places.size(), pending.size());
      for (Task task : pending) {
        require(task.timeout == null || places.containsKey(task.timeout), "not in the wheel");
      }
    }
    long earliestNanos = Long.MAX_VALUE;
    for (Task task : pending) {
      earliestNanos = Math.min(earliestNanos, clock.dueNanos(task.deadlineNanos));
      require(
          task.timeout == null || (!task.timeout.isExpired() && !task.timeout.isCancelled()),
          "state of a pending one");
    }
    if (timer instanceof PolledTimer polled && !stopped) {
      long nextNanos = clock.offsetOf(polled.nextDeadlineNanos());
      if (pending.isEmpty()) {
        require(
            nextNanos == clock.offsetNanos() + Long.MAX_VALUE, "next deadline of none", nextNanos);
      } else {
        long latestNanos = Math.max(earliestNanos, clock.offsetNanos());
        require(nextNanos <= latestNanos, "next deadline", nextNanos, latestNanos);
      }
    }
  }

  private void require(boolean condition, String message, long... figures) {
    if (!condition) {
      AssertionError error = new AssertionError(message + " " + Arrays.toString(figures));
      if (failure == null) {
        failure = error;
      }
      throw error;
    }
  }

  // Callbacks

  private enum State {
    PENDING,
    TAKEN,
    RAN,
    DROPPED,
    CANCELLED
  }

  /** A poll in progress. */
  private static final class Poll {
    final long nowNanos;
    final int max;
    final boolean stopped;
    int ran;

    Poll(long nowNanos, int max, boolean stopped) {
      this.nowNanos = nowNanos;
      this.max = max;
      this.stopped = stopped;
    }
  }

  /** The exception that the program throws. */
  private static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final class Task implements TimerTask {
    private final int script;
    private Timeout timeout;
    private State state = State.PENDING;
    private long deadlineNanos;

    /** True if it was already due when it was started. Such a timeout may run out of order. */
    private boolean late;

    private int notified;

    /** True if its latest run has not ended. */
    private boolean running;

    Task(int script) {
      this.script = script;
    }

    /** Records that the timer has decided to run this task. */
    void taken() {
      require(state == State.PENDING, "expired, but was " + state);
      Poll poll = polls.peek();
      require(poll != null && poll.ran < poll.max && !poll.stopped, "expired outside of a poll");
      require(
          clock.isDue(deadlineNanos, clock.seenNanos()), "early", deadlineNanos, clock.seenNanos());
      for (Task other : pending) {
        require(
            other.late || clock.dueNanos(other.deadlineNanos) >= clock.dueNanos(deadlineNanos),
            "in another order than by ticks",
            deadlineNanos,
            other.deadlineNanos);
      }
      poll.ran++;
      state = State.TAKEN;
      pending.remove(this);
      expired++;
      maxLagNanos = Math.max(maxLagNanos, clock.elapsedNanos() - deadlineNanos);
    }

    /** Records in the model that this timeout is cancelled. */
    void cancelled() {
      state = State.CANCELLED;
      pending.remove(this);
      cancelled++;
    }

    @Override
    public void run(Timeout self) {
      guarded(
          () -> {
            if (!listening) {
              taken();
            }
            require(state == State.TAKEN, "ran, but was " + state);
            state = State.RAN;
            require(timeout == null || timeout == self, "ran with another timeout");
            require(self.isExpired() && !self.isCancelled(), "state inside the task");
            require(!self.cancel(), "cancel() inside the task");
            timeout = self;
            running = true;
          });
      FuzzedTimer.this.running.push(this);
      try {
        runScript(script);
      } catch (Throwable e) {
        failed++;
        thrownBy(e);
        throw e;
      } finally {
        FuzzedTimer.this.running.pop();
        running = false;
      }
    }

    @Override
    public void cancelled(Timeout self) {
      guarded(
          () -> {
            require(state == State.CANCELLED, "notified of its cancellation, but was " + state);
            require(++notified == 1, "notified of its cancellation", notified);
            require(self.isCancelled() && !self.isExpired(), "state inside cancelled()");
          });
      try {
        runScript((script + 1) % scripts.size());
      } catch (Throwable e) {
        thrownBy(e);
        throw e;
      }
    }

    void checkEnd() {
      require(state != State.PENDING && state != State.TAKEN, "in the end " + state);
      require(notified == (state == State.CANCELLED ? 1 : 0), "notified", notified);
      require(timeout.isCancelled() == (state == State.CANCELLED), "isCancelled() in the end");
      require(timeout.isExpired() != timeout.isCancelled(), "isExpired() in the end");
      require(!timeout.cancel(), "cancel() in the end");
      require(!timeout.reschedule(1, TimeUnit.SECONDS), "reschedule() in the end");
    }
  }

  /** Ignores the exceptions that the program throws. Records all others as failures. */
  private void thrownBy(Throwable error) {
    thrown++;
    if (!(error instanceof Thrown) && failure == null) {
      failure = error;
    }
  }

  /**
   * Runs checks in a callback. The timer catches their failures, which must not be mistaken for the
   * program's exceptions.
   */
  private void guarded(Runnable checks) {
    try {
      checks.run();
    } catch (AssertionError e) {
      thrown++;
      failure = failure == null ? e : failure;
      throw e;
    }
  }

  private final class Listener implements TimerListener {
    @Override
    public void started(Timeout timeout) {
      maybeThrow();
    }

    @Override
    public void rescheduled(Timeout timeout) {
      maybeThrow();
    }

    @Override
    public void cancelled(Timeout timeout) {
      maybeThrow();
    }

    @Override
    public void expired(Timeout timeout, long lagNanos) {
      Task task = (Task) timeout.task();
      guarded(
          () -> {
            task.taken();
            require(lagNanos == clock.elapsedNanos() - task.deadlineNanos, "lag", lagNanos);
          });
      maybeThrow();
    }

    @Override
    public void rejected(Timeout timeout, Throwable cause) {
      maybeThrow();
    }

    private void maybeThrow() {
      if (listenerThrows && ++calls % 5 == 0) {
        thrown++;
        throw new Thrown();
      }
    }
  }

  /** 1 drops the task, 2 throws, 3 runs it twice. */
  private void onRejected(Timeout timeout, Runnable execution, Throwable cause) {
    switch (policyKind) {
      case 1 -> {
        Task task = (Task) timeout.task();
        if (executor.kind != FuzzExecutor.ACCEPTS_AND_THROWS) {
          task.state = State.DROPPED;
        }
      }
      case 2 -> {
        thrown++;
        throw new Thrown();
      }
      default -> {
        execution.run();
        execution.run();
      }
    }
  }

  // State that the public API does not show

  private static Wheel wheelOf(Engine engine) {
    return (Wheel) field(((Stripe[]) field(engine, "stripes"))[0], "wheel");
  }

  private static Object field(Object owner, String name) {
    try {
      Field field = owner.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return field.get(owner);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }
}
