// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.testkit.ManualExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Verifies the answers and the order of changes that a lane repeats. */
class CommitLaneTest {
  private final ManualTimer wheel = ManualTimer.create();
  private final ManualExecutor steps = new ManualExecutor();
  private final AtomicBoolean stopFound = new AtomicBoolean();
  private final Delays delays = new Delays(wheel, this::wheelStopped);

  /** Called with the changes of each commit. It may throw the failure of the commit. */
  private Consumer<List<String>> onCommit = changes -> {};

  /** The committed changes, and the answers, in their order. */
  private final List<String> committed = new ArrayList<>();

  private final List<String> answers = new ArrayList<>();

  private final Committer committer =
      new Committer(
          new CommitLane.Settings(
              new Store(),
              delays,
              new StoreTasks(new StoreTasks.Executors(steps, steps, steps), delays),
              new EngineClock(() -> Instant.EPOCH, () -> 0),
              new Listener(),
              steps,
              1_000,
              true),
          List.of(steps));

  /** Does the same as the engine. */
  private void wheelStopped() {
    if (!stopFound.getAndSet(true)) {
      committer.refuseCallers();
      committer.wheelStopped();
    }
  }

  private final class Store extends ForwardingTimerStore {
    Store() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public List<Outcome> commit(List<Change> changes) {
      onCommit.accept(names(changes));
      committed.addAll(names(changes));
      return changes.stream()
          .map(change -> new Outcome(Outcome.Answer.NOT_FOUND, 0, null))
          .toList();
    }
  }

  private static final class Listener implements Committer.Listener {
    @Override
    public void answered() {}

    @Override
    public void committed(Change change, Outcome outcome, boolean own) {}

    @Override
    public void failed(int changes, StoreException failure) {}

    @Override
    public void unknown(Change change, boolean own) {}

    @Override
    public void rejected(Change change, StoreException failure) {}

    @Override
    public boolean isAwaited(Thread thread) {
      return false;
    }
  }

  /** A call of a caller that records its answer. */
  private final class Call implements Committer.Call {
    private final Change change;

    Call(Change change) {
      this.change = change;
    }

    @Override
    public Change change() {
      return change;
    }

    @Override
    public void answer(Outcome outcome) {
      answers.add(name(change) + " " + outcome.answer());
    }

    @Override
    public void fail(RuntimeException failure) {
      answers.add(name(change) + " failed");
    }
  }

  /** Returns the id of the timer and the version, for example "x1". */
  private static String name(Change change) {
    return change.key().id() + ((Change.Cancel) change).version();
  }

  private static List<String> names(List<Change> changes) {
    return changes.stream().map(CommitLaneTest::name).toList();
  }

  /** Returns a change with a request ID, so that it is repeated after an unknown outcome. */
  private Call call(String id, int version) {
    return new Call(
        new Change.Cancel(
            new TimerKey("shop", id), version, new RequestId(id + version, "digest"), 0));
  }

  private void settle() {
    while (steps.runOne()) {
      // Until no work is left at this time.
    }
  }

  /** Loses the answer of the first commit, during which the wheel is stopped. */
  private void stopTheWheelInACommitWhoseAnswerIsLost() {
    onCommit =
        changes -> {
          wheel.stop();
          onCommit = later -> {};
          throw new StoreException(StoreException.Kind.UNKNOWN, "the answer was lost", null);
        };
  }

  @Test
  void aCallIsAnsweredOnceIfTheStoreFailsAfterTheWheelWasStopped() {
    stopTheWheelInACommitWhoseAnswerIsLost();
    committer.submitAll(List.of(call("x", 1)));
    settle();
    assertThat(committed).as("the last try").containsExactly("x1");
    assertThat(answers).containsExactly("x1 NOT_FOUND");
    assertThat(committer.isIdle()).isTrue();
  }

  @Test
  void aChangeOfTheEngineIsAnsweredOnceIfTheStoreFailsAfterTheWheelWasStopped() {
    stopTheWheelInACommitWhoseAnswerIsLost();
    Change own = new Change.Cancel(new TimerKey("shop", "own"), 1, 0);
    committer.submitOwn(own, outcome -> answers.add(outcome == null ? "failed" : "committed"));
    settle();
    assertThat(committed).as("the last try").containsExactly("own1");
    assertThat(answers).containsExactly("committed");
    assertThat(committer.isIdle()).isTrue();
  }
}
