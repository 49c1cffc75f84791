// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimerException.Reason;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StepExecutor;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of changes to the store: lanes by key, each committing what waits in it as one batch.
 *
 * <p>A lane has two queues. That of callers is bounded, in number and in bytes, and so is a batch:
 * a caller who finds the queue full waits, or is refused. That of the engine's own changes (claims
 * and ends of claims) goes first and is not bounded here, because windows are, and what runs is.
 * Own changes are repeated until the store answers: they may be taken twice. Those of callers are
 * repeated after an unknown outcome only if they carry a request id.
 *
 * <p>What has failed without a known outcome is repeated in halves, each by itself, until the
 * change that the store cannot take is alone: it harms no other, and is never given up.
 */
final class Committer {
  private static final System.Logger LOG = System.getLogger(DurableTimer.class.getName());
  private static final long FIRST_WAIT_MILLIS = 50;
  private static final long LONGEST_WAIT_MILLIS = 5_000;
  private static final long REFUSED_WAIT_MILLIS = 1_000;
  private static final int MAX_TRIES_OF_UNKNOWN = 5;

  /** Of payloads and headers in one commit; the last change of it may go beyond. */
  private static final long MAX_BATCH_BYTES = 4 << 20;

  /** Of payloads and headers that wait in a lane; the last change may go beyond. */
  private static final long MAX_QUEUED_BYTES = 16 << 20;

  private final TimerStore store;
  private final Waits waits;
  private final Executor executor;
  private final int capacity;
  private final int maxBatch;
  private final boolean refuseWhenFull;
  private final Turns turns;
  private final Listener listener;
  private final Lane[] lanes;
  private volatile boolean refusing;
  private volatile boolean closed;

  /** Makes a committer for an engine that is being made. */
  interface Factory {
    Committer create(Waits waits, Turns turns, Listener listener);
  }

  /** Notified of how commits go. */
  interface Listener {
    /** A commit has gone well. */
    void answered();

    /** A commit has failed, and not because of what was asked. */
    void failed(int changes, StoreException failure);

    /** The outcome of a change is not known; if it is the engine's own, it is tried again. */
    void unknown(Change change, boolean own);

    /** A change of the engine was rejected, and is not tried again here. */
    void rejected(Change change, StoreException failure);

    /** Whether a close waits for this thread. */
    boolean isAwaited(Thread thread);
  }

  Committer(
      TimerStore store,
      Waits waits,
      Executor[] executors,
      int capacity,
      boolean refuseWhenFull,
      Turns turns,
      Listener listener) {
    this.store = store;
    this.waits = waits;
    this.turns = turns;
    this.executor = executors[0];
    this.capacity = capacity;
    this.maxBatch = store.traits().maxBatch();
    this.refuseWhenFull = refuseWhenFull;
    this.listener = listener;
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
    lane(change).add(new Item(change, future, null), isLate());
    return future;
  }

  /** Whether callers are refused, and this one is a handler, whose end the close waits for. */
  private boolean isLate() {
    return refusing && listener.isAwaited(Thread.currentThread());
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
      lanes[i].addAll(items.get(i), isLate());
    }
  }

  /** A change of the engine; {@code then} gets null if the store rejects it. */
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

  /** Takes no more changes of callers, but of handlers; those included who wait for room. */
  void refuseCallers() {
    refusing = true;
    for (Lane lane : lanes) {
      lane.wakeCallers();
    }
  }

  /** The wheel was stopped: what waits for its time has its last try. */
  void wheelStopped() {
    for (Lane lane : lanes) {
      lane.comeBack();
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
    final int bytes;
    int tries;

    /** Whether an earlier try may have been done: from then on no failure means "not done". */
    boolean mayBeDone;

    Item(Change change, @Nullable Call call, @Nullable Consumer<@Nullable Outcome> then) {
      this.change = change;
      this.call = call;
      this.then = then;
      bytes = change instanceof Change.Schedule schedule ? bytesOf(schedule.definition()) : 0;
    }

    private static int bytesOf(TimerDefinition definition) {
      int sum = definition.payload().length;
      for (Map.Entry<String, String> header : definition.headers().entrySet()) {
        sum += header.getKey().length() + header.getValue().length();
      }
      return sum;
    }

    boolean isOwn() {
      return then != null;
    }

    /** Whether a failed try is followed by another one. */
    boolean isRepeatedAfter(StoreException.Kind kind) {
      tries++;
      boolean unknown = kind == StoreException.Kind.UNKNOWN;
      return isOwn()
          ? kind != StoreException.Kind.REJECTED
          : unknown && hasRequestId() && tries < MAX_TRIES_OF_UNKNOWN;
    }

    private boolean hasRequestId() {
      return change instanceof Change.Schedule schedule && schedule.requestId() != null;
    }

    void complete(Outcome outcome) {
      try {
        if (call != null) {
          call.answer(outcome);
        } else {
          requireNonNull(then).accept(outcome);
        }
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.ERROR, "after the commit of " + change, e);
      }
    }

    void fail(Reason reason, Throwable cause) {
      try {
        if (call != null) {
          call.fail(
              new DurableTimerException(
                  reason, 0, change.key() + ": " + cause.getMessage(), cause));
        } else {
          requireNonNull(then).accept(null);
        }
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.ERROR, "after the failure of " + change, e);
      }
    }
  }

  /** Changes that wait for another try. Not a record: no two are equal. */
  private static final class Again {
    final List<Item> items;

    /** Whether they may have made the store fail, and so are committed by themselves. */
    final boolean suspect;

    Again(List<Item> items, boolean suspect) {
      this.items = items;
      this.suspect = suspect;
    }

    int callers() {
      return (int) items.stream().filter(item -> !item.isOwn()).count();
    }

    long waitMillis() {
      int tries = items.stream().mapToInt(item -> item.tries).max().orElse(1);
      return Math.min(
          LONGEST_WAIT_MILLIS, FIRST_WAIT_MILLIS << Math.max(0, Math.min(tries - 1, 20)));
    }
  }

  /** The engine's own changes have none. */
  private static long bytesOf(List<Item> items) {
    return items.stream().mapToLong(item -> item.bytes).sum();
  }

  /** One queue of callers, one of the engine, and at most one commit at a time. */
  private final class Lane {
    private final Executor laneExecutor;
    private final ArrayDeque<Item> callers = new ArrayDeque<>();
    private final ArrayDeque<Item> own = new ArrayDeque<>();

    /** What has failed, and waits for its time. */
    private final Set<Again> waiting = new HashSet<>();

    /** What has failed in a way that others must not share. */
    private final ArrayDeque<Again> suspects = new ArrayDeque<>();

    private boolean draining;

    /** The number of the present drain: one that an executor has refused must not run later. */
    private int turn;

    private boolean suspectsTurn;

    /** Whether the executor has refused to run, and is asked again by a caller or in a while. */
    private boolean refused;

    /** How many changes of callers are to be repeated: they count until they are answered. */
    private int repeated;

    /** The bytes of all changes of callers that count. */
    private long callersBytes;

    Lane(Executor laneExecutor) {
      this.laneExecutor = laneExecutor;
    }

    void add(Item item, boolean late) {
      boolean start;
      synchronized (this) {
        awaitRoom(item, late);
        checkOpen(late);
        addCallers(item);
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    void addAll(List<Item> items, boolean late) {
      int added = 0;
      while (added < items.size()) {
        boolean start;
        try {
          synchronized (this) {
            awaitRoom(items.get(added), late);
            checkOpen(late);
            do {
              addCallers(items.get(added++));
            } while (added < items.size() && !isFull());
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

    private void addCallers(Item item) {
      callers.add(item);
      callersBytes += item.bytes;
    }

    private boolean isFull() {
      return callers.size() + repeated >= capacity || callersBytes >= MAX_QUEUED_BYTES;
    }

    private void checkOpen(boolean late) {
      if (closed || (refusing && !late)) {
        throw Engine.closed();
      }
    }

    // Waits while the queue is full; a thread that drives the store itself cannot.
    private void awaitRoom(Item item, boolean late) {
      while (isFull() && !closed && (!refusing || late)) {
        if (refuseWhenFull || executor instanceof StepExecutor) {
          throw busy(item, null);
        }
        try {
          wait();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw busy(item, e);
        }
      }
    }

    private DurableTimerException busy(Item item, @Nullable InterruptedException interrupt) {
      return new DurableTimerException(
          Reason.BUSY,
          0,
          item.change.key()
              + ": "
              + (callers.size() + repeated)
              + " changes wait for the store (expected: fewer than "
              + capacity
              + (callersBytes >= MAX_QUEUED_BYTES ? ", of " + MAX_QUEUED_BYTES + " bytes" : "")
              + (interrupt == null ? ")" : "), and the thread that waited was interrupted"),
          interrupt);
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
      return !draining
          && callers.isEmpty()
          && own.isEmpty()
          && waiting.isEmpty()
          && suspects.isEmpty();
    }

    synchronized int callersWaiting() {
      return callers.size() + repeated;
    }

    synchronized int ownWaiting() {
      int again = 0;
      for (Again items : waiting) {
        again += items.items.size();
      }
      for (Again items : suspects) {
        again += items.items.size();
      }
      return own.size() + again - repeated;
    }

    synchronized void wakeCallers() {
      notifyAll();
    }

    /** Claims and their ends are left to the next owner; callers are told. */
    void close() {
      List<Item> left;
      synchronized (this) {
        left = new ArrayList<>(callers);
        left.addAll(own);
        waiting.forEach(again -> left.addAll(again.items));
        suspects.forEach(again -> left.addAll(again.items));
        callers.clear();
        own.clear();
        waiting.clear();
        suspects.clear();
        repeated = 0;
        callersBytes = 0;
        notifyAll();
      }
      left.removeIf(Item::isOwn);
      giveUp(left, Engine.closed());
    }

    private void giveUp(List<Item> items, Throwable cause) {
      for (Item item : items) {
        item.fail(item.mayBeDone ? Reason.UNKNOWN : Reason.STORE_UNAVAILABLE, cause);
      }
    }

    // One commit at a time

    private boolean startDraining() {
      boolean work = !callers.isEmpty() || (!refused && !(own.isEmpty() && suspects.isEmpty()));
      boolean start = work && !draining;
      if (start) {
        draining = true;
        turn++;
      }
      return start;
    }

    private void execute() {
      int mine;
      synchronized (this) {
        mine = turn;
      }
      try {
        turns.execute(laneExecutor, () -> drain(mine));
      } catch (RuntimeException | Error e) {
        synchronized (this) { // first, and without a call: the stack may be full
          turn++;
          draining = false;
        }
        refused(e);
      }
    }

    /** The executor does not run: callers are told, and the engine's own changes wait for it. */
    private void refused(Throwable refusal) {
      List<Item> told;
      boolean first;
      synchronized (this) {
        told = new ArrayList<>(callers);
        callers.clear();
        callersBytes -= bytesOf(told);
        notifyAll();
        first = !refused;
        refused = true;
      }
      giveUp(told, new IllegalStateException("the store's executor refuses to run", refusal));
      if (first && !closed) {
        LOG.log(System.Logger.Level.WARNING, "the store's executor refuses to run", refusal);
        try {
          waits.start(this::askAgain, Duration.ofMillis(REFUSED_WAIT_MILLIS));
        } catch (IllegalStateException e) {
          LOG.log(System.Logger.Level.DEBUG, "stopped while the executor refused to run", e);
        }
      }
    }

    private void askAgain() {
      boolean start;
      synchronized (this) {
        refused = false;
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    /** Commits one batch, and goes on in a task of its own, so that others get their turn. */
    private void drain(int mine) {
      boolean start = false;
      try {
        List<Item> batch = take(mine);
        if (!batch.isEmpty()) {
          commit(batch);
        }
      } finally {
        synchronized (this) {
          if (mine == turn) {
            draining = false;
            start = startDraining();
          }
        }
        if (start) {
          execute();
        }
      }
    }

    private synchronized List<Item> take(int mine) {
      if (mine != turn) {
        return List.of();
      }
      refused = false;
      boolean others = !own.isEmpty() || !callers.isEmpty();
      suspectsTurn = !suspects.isEmpty() && !(suspectsTurn && others);
      List<Item> batch = new ArrayList<>();
      if (suspectsTurn) {
        Again again = suspects.remove();
        repeated -= again.callers();
        callersBytes -= bytesOf(again.items);
        return again.items;
      }
      long batchBytes = 0;
      while (batch.size() < maxBatch
          && batchBytes < MAX_BATCH_BYTES
          && !(own.isEmpty() && callers.isEmpty())) {
        Item item = own.isEmpty() ? callers.remove() : removeOwn();
        callersBytes -= item.bytes;
        batchBytes += item.bytes;
        batch.add(item);
      }
      notifyAll();
      return batch;
    }

    private Item removeOwn() {
      Item item = own.remove();
      repeated -= item.isOwn() ? 0 : 1;
      return item;
    }

    private void commit(List<Item> batch) {
      List<Outcome> outcomes;
      Object event = Events.commitBegins();
      try {
        outcomes = outcomes(batch.stream().map(item -> item.change).toList());
        Events.commitEnded(event, batch.size(), null);
      } catch (StoreException e) {
        Events.commitEnded(event, batch.size(), e);
        failed(batch, e);
        return;
      } catch (RuntimeException | Error e) {
        Events.commitEnded(event, batch.size(), e);
        failed(batch, new StoreException(StoreException.Kind.UNKNOWN, "the store threw " + e, e));
        return;
      }
      listener.answered();
      for (int i = 0; i < batch.size(); i++) {
        batch.get(i).complete(outcomes.get(i));
      }
    }

    private List<Outcome> outcomes(List<Change> changes) {
      List<Outcome> outcomes = List.copyOf(store.commit(changes));
      if (outcomes.size() != changes.size()) {
        throw new IllegalStateException(
            outcomes.size() + " outcomes (expected: " + changes.size() + ")");
      }
      return outcomes;
    }

    // Failures

    private void failed(List<Item> batch, StoreException failure) {
      if (failure.kind() == StoreException.Kind.REJECTED && batch.size() > 1) {
        batch.forEach(item -> commit(List.of(item)));
        return;
      }
      if (failure.kind() != StoreException.Kind.REJECTED) {
        listener.failed(batch.size(), failure);
      }
      boolean unknown = failure.kind() == StoreException.Kind.UNKNOWN;
      List<Item> again = new ArrayList<>();
      for (Item item : batch) {
        if (unknown) {
          item.mayBeDone = true;
          listener.unknown(item.change, item.isOwn());
        }
        if (item.isRepeatedAfter(failure.kind())) {
          again.add(item);
        } else {
          if (item.isOwn()) {
            listener.rejected(item.change, failure);
          }
          item.fail(item.mayBeDone ? Reason.UNKNOWN : failure.reason(), failure);
        }
      }
      // Halved until the change that the store cannot take fails alone: the others must not wait,
      int half = unknown ? again.size() / 2 : 0;
      if (half > 0) {
        again.stream().filter(Item::isOwn).forEach(item -> item.tries = 0); // nor for long
      }
      repeatLater(new Again(List.copyOf(again.subList(0, half)), unknown), failure);
      repeatLater(new Again(List.copyOf(again.subList(half, again.size())), unknown), failure);
    }

    private void repeatLater(Again again, StoreException failure) {
      if (again.items.isEmpty()) {
        return;
      }
      boolean open;
      synchronized (this) {
        open = !closed;
        if (open) {
          waiting.add(again);
          repeated += again.callers();
          callersBytes += bytesOf(again.items);
        }
      }
      if (!open) {
        giveUp(again.items.stream().filter(item -> !item.isOwn()).toList(), Engine.closed());
        return;
      }
      try {
        waits.start(() -> comeBack(again), Duration.ofMillis(again.waitMillis()));
      } catch (IllegalStateException e) {
        synchronized (this) {
          waiting.remove(again);
          repeated -= again.callers();
          callersBytes -= bytesOf(again.items);
        }
        giveUp(again.items, failure); // nobody waits for a wheel that was stopped
      }
    }

    private void comeBack(Again again) {
      boolean start;
      synchronized (this) {
        if (!waiting.remove(again)) {
          return;
        }
        if (again.suspect) {
          suspects.add(again);
        } else {
          for (int i = again.items.size() - 1; i >= 0; i--) {
            own.addFirst(again.items.get(i));
          }
        }
        start = startDraining();
      }
      if (start) {
        execute();
      }
    }

    void comeBack() {
      List<Again> all;
      synchronized (this) {
        all = List.copyOf(waiting);
        refused = false;
      }
      all.forEach(this::comeBack);
    }
  }
}
