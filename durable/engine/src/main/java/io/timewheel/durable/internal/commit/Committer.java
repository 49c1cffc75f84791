// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.TimerClosedException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Commits changes to the store. {@link LaneAssignment} assigns each change to a lane, and each lane
 * commits its waiting changes in one batch.
 *
 * <p>A lane has two queues. The queue of callers is bounded in number and in bytes, and so is a
 * batch. If the queue is full, a call blocks or is refused. The queue of the engine's own changes
 * (claims and ends of claims) takes precedence. It needs no limit, because the windows and the
 * running attempts are limited. Millions of timers may become ready at once, so their changes share
 * each batch with those of callers. The engine's changes are repeated until the store answers,
 * because they may be applied twice. Changes of callers with an unknown outcome are repeated only
 * if they have a request ID, and are tried at most five times.
 */
public final class Committer {
  private final CommitLane.Settings settings;
  private final CommitLane[] lanes;
  private final LaneAssignment assignment;
  private volatile boolean refusing;

  /** Receives the results of commits. */
  public interface Listener {
    /** Called after a successful commit. */
    void answered();

    /** Called with the outcome of a change, before its caller gets it. */
    void committed(Change change, Outcome outcome, boolean own);

    /** Called after a commit that failed for a reason other than the content of its changes. */
    void failed(int changes, StoreException failure);

    /** Called if the outcome of a change is unknown. A change of the engine is retried. */
    void unknown(Change change, boolean own);

    /** Called if a change of the engine was rejected. The committer does not retry it. */
    void rejected(Change change, StoreException failure);

    /** Returns whether a close waits for a thread. */
    boolean isAwaited(Thread thread);
  }

  public Committer(CommitLane.Settings settings, List<Executor> executors) {
    this.settings = settings;
    lanes = new CommitLane[executors.size()];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new CommitLane(settings, executors.get(i));
    }
    assignment = new LaneAssignment(lanes.length, lane -> lanes[lane].isSlow());
  }

  /** A change of a caller. It is answered once, after the commit. */
  public interface Call {
    Change change();

    void answer(Outcome outcome);

    void fail(RuntimeException failure);
  }

  /** Submits a change of a caller. The future completes after the commit. */
  public CompletableFuture<Outcome> submit(Change change) {
    checkOpen();
    CallFuture future = new CallFuture(change);
    PendingChange item = pending(change, future, null);
    try {
      lane(change).add(item, isLate());
    } catch (RuntimeException e) { // refused; after an Error, the lane may still contain it
      item.release();
      throw e;
    }
    return future;
  }

  /**
   * Throws if this committer refuses calls. During a close, running handlers may still make calls.
   * Otherwise their attempts would fail.
   */
  public void checkOpen() {
    if (refusing && !settings.listener().get().isAwaited(Thread.currentThread())) {
      throw closed();
    }
  }

  public static IllegalStateException closed() {
    return new TimerClosedException("the durable timer is closed", null);
  }

  /**
   * Returns whether callers are refused, but the current caller is a handler for which the close
   * waits.
   */
  private boolean isLate() {
    return refusing && settings.listener().get().isAwaited(Thread.currentThread());
  }

  /** Submits many changes of one caller, in as few commits as possible. Refused changes fail. */
  public void submitAll(List<? extends Call> calls) {
    List<List<PendingChange>> items = new ArrayList<>();
    for (int i = 0; i < lanes.length; i++) {
      items.add(new ArrayList<>(calls.size() / lanes.length + 1));
    }
    for (Call call : calls) {
      items.get(assignment.begin(call.change().key())).add(pending(call.change(), call, null));
    }
    for (int i = 0; i < lanes.length; i++) {
      lanes[i].addAll(items.get(i), isLate());
    }
  }

  /** Submits a change of the engine; {@code then} gets null if the store rejects it. */
  public void submitOwn(Change change, Consumer<@Nullable Outcome> then) {
    lane(change).addOwn(pending(change, null, then));
  }

  /** Submits a change of a backlog, which must not delay callers. */
  public void submitBulk(Change change, Consumer<@Nullable Outcome> then) {
    lane(change).addBulk(pending(change, null, then));
  }

  /**
   * Submits a change of the engine that is committed by a time, and waits for others until then.
   */
  public void submitOwn(Change change, long byMillis, Consumer<@Nullable Outcome> then) {
    long delayMillis = settings.store().traits().nonUrgentDelay().toMillis();
    long leftMillis = EpochMillis.saturatedSubtract(byMillis, settings.clock().nowMillis());
    if (delayMillis > 0 && leftMillis > delayMillis * 3 / 2) { // the half is for the commit
      lane(change).addNonUrgent(pending(change, null, then));
    } else {
      submitOwn(change, then);
    }
  }

  /** Returns whether no change waits and no commit is running. */
  public boolean isIdle() {
    for (CommitLane lane : lanes) {
      if (!lane.isIdle()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Runs work after the outcomes that the engine is processing, or at once if there are none. If
   * the executor has several threads, the work may run before them.
   */
  public void afterOutcomes(Runnable work) {
    if (Arrays.stream(lanes).noneMatch(CommitLane::isProcessing)) {
      work.run();
      return;
    }
    try {
      settings.tasks().execute(settings.ownExecutor(), work);
    } catch (RuntimeException | Error e) { // the executor is closed or has no thread
      work.run();
    }
  }

  /** Returns the number of callers' changes that wait for the store. */
  public int callersWaiting() {
    int waiting = 0;
    for (CommitLane lane : lanes) {
      waiting += lane.callersWaiting();
    }
    return waiting;
  }

  /** Returns the number of the engine's changes that wait for the store. */
  public int ownWaiting() {
    int waiting = 0;
    for (CommitLane lane : lanes) {
      waiting += lane.ownWaiting();
    }
    return waiting;
  }

  /**
   * Refuses further changes of callers, including those that wait for room, but accepts those of
   * handlers.
   */
  public void refuseCallers() {
    refusing = true;
    for (CommitLane lane : lanes) {
      lane.refuseCallers();
    }
  }

  /** Makes all waiting changes due for their last try, because the wheel was stopped. */
  public void wheelStopped() {
    for (CommitLane lane : lanes) {
      lane.makeDue();
    }
  }

  /** Closes the lanes. Uncommitted changes are given up. */
  public void close() {
    for (CommitLane lane : lanes) {
      lane.close();
    }
  }

  private CommitLane lane(Change change) {
    return lanes[assignment.begin(change.key())];
  }

  private PendingChange pending(
      Change change, @Nullable Call call, @Nullable Consumer<@Nullable Outcome> then) {
    return new PendingChange(change, call, then, assignment);
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
