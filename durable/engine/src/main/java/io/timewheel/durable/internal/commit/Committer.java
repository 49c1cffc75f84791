// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.TimerClosedException;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.Shards;
import io.timewheel.durable.spi.StoreException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of changes to the store: lanes by key, each committing what waits in it as one batch.
 *
 * <p>A lane has queues for two. That of callers is bounded, in number and in bytes, and so is a
 * batch: a caller who finds the queue full waits, or is refused. That of the engine's own changes
 * (claims and ends of claims) goes first and is not bounded here, because windows are, and what
 * runs is. Timers that become ready come by the million: their changes share each batch with those
 * of callers. Own changes are repeated until the store answers: they may be taken twice. Those of
 * callers are repeated after an unknown outcome only if they carry a request id.
 */
public final class Committer {
  private final CommitLane.Settings settings;
  private final CommitLane[] lanes;
  private volatile boolean refusing;

  /** Learns from the committer how commits go. */
  public interface Listener {
    /** A commit has gone well. */
    void answered();

    /** The outcome of a change, before its caller learns it. */
    void committed(Change change, Outcome outcome, boolean own);

    /** A commit has failed, and not because of what was asked. */
    void failed(int changes, StoreException failure);

    /** The outcome of a change is not known; if it is the engine's own, it is tried again. */
    void unknown(Change change, boolean own);

    /** A change of the engine was rejected, and is not tried again here. */
    void rejected(Change change, StoreException failure);

    /** Whether a close waits for this thread. */
    boolean isAwaited(Thread thread);
  }

  public Committer(CommitLane.Settings settings, List<Executor> executors) {
    this.settings = settings;
    lanes = new CommitLane[executors.size()];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new CommitLane(settings, executors.get(i));
    }
  }

  /** A change of a caller, who is answered once, after the commit. */
  public interface Call {
    Change change();

    void answer(Outcome outcome);

    void fail(RuntimeException failure);
  }

  /** A change of a caller; the future completes after the commit. */
  public CompletableFuture<Outcome> submit(Change change) {
    checkOpen();
    CallFuture future = new CallFuture(change);
    lane(change).add(new PendingChange(change, future, null), isLate());
    return future;
  }

  /** A handler goes on until it ends: otherwise each close would fail attempts. */
  public void checkOpen() {
    if (refusing && !settings.listener().isAwaited(Thread.currentThread())) {
      throw closed();
    }
  }

  public static IllegalStateException closed() {
    return new TimerClosedException("the durable timer is closed", null);
  }

  /** Whether callers are refused, and this one is a handler, whose end the close waits for. */
  private boolean isLate() {
    return refusing && settings.listener().isAwaited(Thread.currentThread());
  }

  /** Changes of one caller, in as few commits as there is room for; what is refused is told so. */
  public void submitAll(List<? extends Call> calls) {
    List<List<PendingChange>> items = new ArrayList<>();
    for (int i = 0; i < lanes.length; i++) {
      items.add(new ArrayList<>(calls.size() / lanes.length + 1));
    }
    for (Call call : calls) {
      items.get(laneOf(call.change())).add(new PendingChange(call.change(), call, null));
    }
    for (int i = 0; i < lanes.length; i++) {
      lanes[i].addAll(items.get(i), isLate());
    }
  }

  /** A change of the engine; {@code then} gets null if the store rejects it. */
  public void submitOwn(Change change, Consumer<@Nullable Outcome> then) {
    lane(change).addOwn(new PendingChange(change, null, then));
  }

  /** The same for one of a backlog, which must not delay callers. */
  public void submitBulk(Change change, Consumer<@Nullable Outcome> then) {
    lane(change).addBulk(new PendingChange(change, null, then));
  }

  /** The same for one that is committed by a time, and waits for others until then. */
  public void submitOwn(Change change, long byMillis, Consumer<@Nullable Outcome> then) {
    long patienceMillis = settings.store().traits().patience().toMillis();
    long leftMillis = EpochMillis.saturatedSubtract(byMillis, settings.clock().nowMillis());
    if (patienceMillis > 0 && leftMillis > patienceMillis * 3 / 2) { // the half is for the commit
      lane(change).addPatient(new PendingChange(change, null, then));
    } else {
      submitOwn(change, then);
    }
  }

  /** Whether nothing waits, and no commit is under way. */
  public boolean isIdle() {
    for (CommitLane lane : lanes) {
      if (!lane.isIdle()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Runs something behind what the engine is being told now; at once, if that is nothing. Where the
   * executor has several threads, it may come before that.
   */
  public void whenTold(Runnable work) {
    if (Arrays.stream(lanes).noneMatch(CommitLane::isTelling)) {
      work.run();
      return;
    }
    try {
      settings.tasks().execute(settings.ownExecutor(), work);
    } catch (RuntimeException | Error e) { // closed, or no thread is to be had
      work.run();
    }
  }

  /** How many changes of callers wait for the store. */
  public int callersWaiting() {
    int waiting = 0;
    for (CommitLane lane : lanes) {
      waiting += lane.callersWaiting();
    }
    return waiting;
  }

  /** How many changes of the engine wait for the store. */
  public int ownWaiting() {
    int waiting = 0;
    for (CommitLane lane : lanes) {
      waiting += lane.ownWaiting();
    }
    return waiting;
  }

  /** Takes no more changes of callers, but of handlers; those included who wait for room. */
  public void refuseCallers() {
    refusing = true;
    for (CommitLane lane : lanes) {
      lane.refuseCallers();
    }
  }

  /** The wheel was stopped: what waits for its time has its last try. */
  public void wheelStopped() {
    for (CommitLane lane : lanes) {
      lane.comeBack();
    }
  }

  /** What has not been committed is given up. */
  public void close() {
    for (CommitLane lane : lanes) {
      lane.close();
    }
  }

  private CommitLane lane(Change change) {
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
}
