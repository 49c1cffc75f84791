// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import io.timewheel.durable.DurableTimerException.Reason;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of changes to the store: lanes by key, each committing what waits in it as one batch.
 *
 * <p>A lane has two queues. That of callers is bounded: a caller who finds it full waits, or is
 * refused. That of the engine's own changes (claims and ends of claims) goes first and is not
 * bounded here, because windows are, and what runs is. Own changes are repeated until the store
 * answers: they may be taken twice. Those of callers are repeated after an unknown outcome only if
 * they carry a request id.
 */
final class Committer {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());
  private static final long FIRST_WAIT_MILLIS = 50;
  private static final long LONGEST_WAIT_MILLIS = 5_000;
  private static final int MAX_TRIES_OF_UNKNOWN = 5;

  private final TimerStore store;
  private final Timer timer;
  private final Executor executor;
  private final int capacity;
  private final int maxBatch;
  private final boolean refuseWhenFull;
  private final Consumer<Change> onUnknown;
  private final Lane[] lanes;
  private final Availability availability;
  private volatile boolean refusing;
  private volatile boolean closed;

  /** Makes a committer that tells somebody of outcomes that are unknown. */
  interface Factory {
    Committer create(Consumer<Change> onUnknown, Availability availability);
  }

  Committer(
      TimerStore store,
      Timer timer,
      Executor[] executors,
      int capacity,
      boolean refuseWhenFull,
      Consumer<Change> onUnknown,
      Availability availability) {
    this.store = store;
    this.timer = timer;
    this.availability = availability;
    this.executor = executors[0];
    this.capacity = capacity;
    this.maxBatch = store.traits().maxBatch();
    this.refuseWhenFull = refuseWhenFull;
    this.onUnknown = onUnknown;
    lanes = new Lane[executors.length];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new Lane(executors[i]);
    }
  }

  /** A change of a caller, who is answered once, after the commit. */
  interface Call {
    Change change();

    void answer(Outcome outcome);

    void fail(RuntimeException failure);
  }

  /** A change of a caller; the future completes after the commit. */
  CompletableFuture<Outcome> submit(Change change) {
    CallFuture future = new CallFuture(change);
    lane(change).add(new Item(change, future, null));
    return future;
  }

  /** Changes of one caller, in as few commits as there is room for; what is refused is told so. */
  void submitAll(List<? extends Call> calls) {
    List<List<Item>> items = new ArrayList<>();
    for (int i = 0; i < lanes.length; i++) {
      items.add(new ArrayList<>(calls.size() / lanes.length + 1));
    }
    for (Call call : calls) {
      items.get(laneOf(call.change())).add(new Item(call.change(), call, null));
    }
    for (int i = 0; i < lanes.length; i++) {
      lanes[i].addAll(items.get(i));
    }
  }

  /** A change of the engine; {@code then} gets null if the store will never take it. */
  void submitOwn(Change change, Consumer<@Nullable Outcome> then) {
    lane(change).addOwn(new Item(change, null, then));
  }

  /** Whether nothing waits, and no commit is under way. */
  boolean isIdle() {
    for (Lane lane : lanes) {
      if (!lane.isIdle()) {
        return false;
      }
    }
    return true;
  }

  /** How many changes of callers wait for the store. */
  int callersWaiting() {
    int waiting = 0;
    for (Lane lane : lanes) {
      waiting += lane.callersWaiting();
    }
    return waiting;
  }

  /** How many changes of the engine wait for the store. */
  int ownWaiting() {
    int waiting = 0;
    for (Lane lane : lanes) {
      waiting += lane.ownWaiting();
    }
    return waiting;
  }

  /** Takes no more changes of callers, those included who wait for room. */
  void refuseCallers() {
    refusing = true;
    for (Lane lane : lanes) {
      lane.wakeCallers();
    }
  }

  /** What has not been committed is given up. */
  void close() {
    refusing = true;
    closed = true;
    for (Lane lane : lanes) {
      lane.close();
    }
  }

  private Lane lane(Change change) {
    return lanes[laneOf(change)];
  }

  private int laneOf(Change change) {
    return lanes.length == 1 ? 0 : (int) ((Shards.hash(change.key()) >>> 32) % lanes.length);
  }

  private static final class CallFuture extends CompletableFuture<Outcome> implements Call {
    private final Change change;

    CallFuture(Change change) {
      this.change = change;
    }

    @Override
    public Change change() {
      return change;
    }

    @Override
    public void answer(Outcome outcome) {
      complete(outcome);
    }

    @Override
    public void fail(RuntimeException failure) {
      completeExceptionally(failure);
    }
  }

  /** A change on its way: of a caller, or of the engine. */
  private static final class Item {
    final Change change;
    final @Nullable Call call;
    final @Nullable Consumer<@Nullable Outcome> then;
    int tries;

    /** Whether an earlier try may have been done: from then on no failure means "not done". */
    boolean mayBeDone;

    Item(Change change, @Nullable Call call, @Nullable Consumer<@Nullable Outcome> then) {
      this.change = change;
      this.call = call;
      this.then = then;
    }

    boolean isOwn() {
      return then != null;
    }

    boolean mayBeRepeated() {
      return change instanceof Change.Schedule schedule && schedule.requestId() != null;
    }

    void complete(Outcome outcome) {
      if (call != null) {
        call.answer(outcome);
      } else {
        requireNonNull(then).accept(outcome);
      }
    }

    void fail(Reason reason, Throwable cause) {
      if (call != null) {
        call.fail(
            new DurableTimerException(reason, 0, change.key() + ": " + cause.getMessage(), cause));
      } else {
        requireNonNull(then).accept(null);
      }
    }
  }

  /** One queue of callers, one of the engine, and at most one commit at a time. */
  private final class Lane {
    private final Executor laneExecutor;
    private final ArrayDeque<Item> callers = new ArrayDeque<>();
    private final ArrayDeque<Item> own = new ArrayDeque<>();
    private boolean draining;
    private boolean ownWaits;

    /** How many of {@link #own} are repeated changes of callers, who count until answered. */
    private int repeated;

    private long waitMillis = FIRST_WAIT_MILLIS;

    Lane(Executor laneExecutor) {
      this.laneExecutor = laneExecutor;
    }

    void add(Item item) {
      boolean start;
      synchronized (this) {
        awaitRoom(item);
        checkOpen();
        callers.add(item);
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    void addAll(List<Item> items) {
      int added = 0;
      while (added < items.size()) {
        boolean start;
        try {
          synchronized (this) {
            awaitRoom(items.get(added));
            checkOpen();
            do {
              callers.add(items.get(added++));
            } while (added < items.size() && callers.size() + repeated < capacity);
            start = startDraining();
          }
        } catch (DurableTimerException | IllegalStateException e) {
          requireNonNull(items.get(added++).call).fail(e);
          continue;
        }
        if (start) {
          execute();
        }
      }
    }

    private void checkOpen() {
      if (refusing) {
        throw Engine.closed();
      }
    }

    // Waits while the queue is full; a thread that drives the store itself cannot.
    private void awaitRoom(Item item) {
      boolean interrupted = false;
      while (callers.size() + repeated >= capacity && !refusing) {
        if (refuseWhenFull || executor instanceof StepExecutor) {
          throw new DurableTimerException(
              Reason.BUSY,
              0,
              item.change.key()
                  + ": "
                  + (callers.size() + repeated)
                  + " changes wait for the store (expected: fewer than "
                  + capacity
                  + ")",
              null);
        }
        try {
          wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    void addOwn(Item item) {
      boolean start;
      synchronized (this) {
        if (!closed) {
          own.add(item);
        }
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    synchronized boolean isIdle() {
      return !draining && callers.isEmpty() && own.isEmpty();
    }

    synchronized int callersWaiting() {
      return callers.size() + repeated;
    }

    synchronized int ownWaiting() {
      return own.size() - repeated;
    }

    synchronized void wakeCallers() {
      notifyAll();
    }

    void close() {
      List<Item> left;
      synchronized (this) {
        left = new ArrayList<>(callers);
        left.addAll(own);
        callers.clear();
        own.clear();
        repeated = 0;
        notifyAll();
      }
      giveUp(left, Engine.closed());
    }

    /** Claims and their ends are left to the next owner; callers are told. */
    private void giveUp(List<Item> items, RuntimeException cause) {
      for (Item item : items) {
        if (!item.isOwn()) {
          item.fail(item.mayBeDone ? Reason.UNKNOWN : Reason.STORE_UNAVAILABLE, cause);
        }
      }
    }

    private boolean startDraining() {
      boolean work = !callers.isEmpty() || (!own.isEmpty() && !ownWaits);
      boolean start = work && !draining;
      draining |= start;
      return start;
    }

    private void execute() {
      try {
        laneExecutor.execute(this::drain);
      } catch (RejectedExecutionException e) {
        synchronized (this) {
          draining = false;
        }
        later(FIRST_WAIT_MILLIS, e);
      }
    }

    /** Commits one batch, and goes on in a task of its own, so that others get their turn. */
    private void drain() {
      List<Item> batch = take();
      if (!batch.isEmpty()) {
        commit(batch);
      }
      boolean start;
      synchronized (this) {
        draining = false;
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    private synchronized List<Item> take() {
      List<Item> batch = new ArrayList<>(Math.min(maxBatch, own.size() + callers.size()));
      while (batch.size() < maxBatch && !ownWaits && !own.isEmpty()) {
        Item item = own.remove();
        repeated -= item.isOwn() ? 0 : 1;
        batch.add(item);
      }
      while (batch.size() < maxBatch && !callers.isEmpty()) {
        batch.add(callers.remove());
      }
      notifyAll();
      return batch;
    }

    private void commit(List<Item> batch) {
      List<Outcome> outcomes;
      try {
        outcomes = store.commit(batch.stream().map(item -> item.change).toList());
      } catch (StoreException e) {
        failed(batch, e);
        return;
      } catch (RuntimeException | Error e) {
        failed(batch, new StoreException(StoreException.Kind.UNKNOWN, "the store threw " + e, e));
        return;
      }
      waitMillis = FIRST_WAIT_MILLIS;
      availability.answered();
      for (int i = 0; i < batch.size(); i++) {
        try {
          batch.get(i).complete(outcomes.get(i));
        } catch (RuntimeException | Error e) {
          LOG.log(System.Logger.Level.ERROR, "after the commit of " + batch.get(i).change, e);
        }
      }
    }

    private void failed(List<Item> batch, StoreException failure) {
      if (failure.kind() == StoreException.Kind.REJECTED && batch.size() > 1) {
        batch.forEach(item -> commit(List.of(item)));
        return;
      }
      if (failure.kind() != StoreException.Kind.REJECTED) {
        availability.failed("a commit of " + batch.size(), failure);
      }
      List<Item> again = new ArrayList<>();
      for (Item item : batch) {
        if (failure.kind() == StoreException.Kind.UNKNOWN) {
          item.mayBeDone = true;
          onUnknown.accept(item.change);
        }
        if (isRepeated(item, failure.kind())) {
          again.add(item);
        } else {
          if (item.isOwn()) {
            LOG.log(System.Logger.Level.ERROR, "the store refuses " + item.change, failure);
          }
          item.fail(item.mayBeDone ? Reason.UNKNOWN : reason(failure.kind()), failure);
        }
      }
      repeatLater(again);
    }

    private boolean isRepeated(Item item, StoreException.Kind kind) {
      if (closed || kind == StoreException.Kind.REJECTED) {
        return false;
      }
      boolean unknown = kind == StoreException.Kind.UNKNOWN;
      return item.isOwn()
          || (unknown && item.mayBeRepeated() && ++item.tries < MAX_TRIES_OF_UNKNOWN);
    }

    private void repeatLater(List<Item> again) {
      if (again.isEmpty()) {
        return;
      }
      long wait;
      synchronized (this) {
        if (!closed) {
          for (int i = again.size() - 1; i >= 0; i--) {
            own.addFirst(again.get(i));
            repeated += again.get(i).isOwn() ? 0 : 1;
          }
          again = List.of();
        }
        ownWaits = true;
        wait = waitMillis;
        waitMillis = Math.min(LONGEST_WAIT_MILLIS, 2 * waitMillis);
      }
      giveUp(again, Engine.closed());
      later(wait, null);
    }

    /** Goes on in a while. Without a wheel that runs nothing goes on, and callers are told. */
    private void later(long wait, @Nullable RuntimeException why) {
      try {
        timer.newTimeout(timeout -> goOn(), Duration.ofMillis(wait));
      } catch (IllegalStateException e) {
        LOG.log(System.Logger.Level.DEBUG, "closed while changes were on their way", e);
        if (why != null) {
          e.addSuppressed(why);
        }
        close();
      }
    }

    private void goOn() {
      boolean start;
      synchronized (this) {
        ownWaits = false;
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }
  }

  static Reason reason(StoreException.Kind kind) {
    return switch (kind) {
      case TRANSIENT, UNAVAILABLE -> Reason.STORE_UNAVAILABLE;
      case REJECTED -> Reason.REJECTED;
      case UNKNOWN -> Reason.UNKNOWN;
    };
  }
}
