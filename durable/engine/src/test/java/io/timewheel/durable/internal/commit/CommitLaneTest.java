// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.internal.time.EngineClock;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.HeldTimersException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.testkit.ManualExecutor;
import io.timewheel.testkit.ManualTimer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies the answers and the order of changes that a lane repeats. */
class CommitLaneTest {
  private static final int BAD_VERSION = 99;

  private final ManualTimer wheel = ManualTimer.create();
  private final ManualExecutor steps = new ManualExecutor();
  private final AtomicBoolean stopFound = new AtomicBoolean();
  private final Delays delays = new Delays(wheel, this::wheelStopped);

  /** Called with the changes of each commit. It may throw the failure of the commit. */
  private Consumer<List<String>> onCommit = changes -> {};

  /** The outcome of each committed change. */
  private Outcome outcome = new Outcome(Outcome.Answer.NOT_FOUND, 0, null);

  /** The committed changes, and the answers, in their order. */
  private final List<String> committed = new ArrayList<>();

  private final List<String> answers = new ArrayList<>();

  private Committer committer = committer(steps);

  private Committer committer(Executor... executors) {
    return new Committer(
        new CommitLane.Settings(
            new Store(),
            delays,
            new StoreTasks(new StoreTasks.Executors(steps, steps, steps), delays),
            new EngineClock(() -> Instant.EPOCH, () -> 0),
            Listener::new,
            steps,
            1_000,
            true),
        List.of(executors));
  }

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
      return Collections.nCopies(changes.size(), outcome);
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

  /** Advances the time in steps, so that several tries follow each other. */
  private void advance(Duration duration) {
    Duration end = wheel.elapsed().plus(duration);
    while (wheel.elapsed().compareTo(end) < 0) {
      wheel.advanceBy(Duration.ofMillis(10));
      settle();
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
    submitOwn("own");
    settle();
    assertThat(committed).as("the last try").containsExactly("own1");
    assertThat(answers).containsExactly("own NOT_FOUND");
    assertThat(committer.isIdle()).isTrue();
  }

  private void submitOwn(String id) {
    committer.submitOwn(
        new Change.Cancel(new TimerKey("shop", id), 1, 0),
        answer -> answers.add(id + " " + (answer == null ? "failed" : answer.answer())));
  }

  /** The first try may have claimed the timer, and may still hold it. */
  @Test
  void aChangeWithAnUnknownOutcomeIsRepeatedUntilTheStoreReadsItsTimer() {
    int[] commits = {0};
    onCommit =
        changes -> {
          if (++commits[0] == 1) {
            throw new StoreException(StoreException.Kind.UNKNOWN, "the answer was lost", null);
          }
          outcome =
              commits[0] < 4
                  ? Outcome.passedOver()
                  : new Outcome(Outcome.Answer.NOT_FOUND, 0, null);
        };
    submitOwn("x");
    settle();
    advance(Duration.ofSeconds(1));
    assertThat(commits[0]).isEqualTo(4);
    assertThat(answers).containsExactly("x NOT_FOUND");
    assertThat(committer.isIdle()).isTrue();
  }

  @Test
  void aFirstTryThatTheStorePassesOverIsAnswered() {
    outcome = Outcome.passedOver();
    submitOwn("x");
    settle();
    assertThat(answers).containsExactly("x OUTDATED");
    assertThat(committer.isIdle()).isTrue();
  }

  /**
   * Rejects each batch that contains "bad1" or "x99". The timer "x" is held for a number of tries
   * that the store does not reject.
   */
  private void rejectBadAndHoldX(int tries) {
    int[] left = {tries};
    TimerKey x = new TimerKey("shop", "x");
    onCommit =
        changes -> {
          if (changes.contains("bad1") || changes.contains("x" + BAD_VERSION)) {
            throw new StoreException(StoreException.Kind.REJECTED, "bad", null);
          }
          if (changes.stream().anyMatch(name -> name.startsWith("x")) && left[0]-- > 0) {
            throw new HeldTimersException(List.of(x), null);
          }
        };
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void changesOfAHeldTimerKeepTheirOrderWhenABatchIsRejected(int tries) {
    rejectBadAndHoldX(tries);
    committer.submitAll(
        List.of(call("x", 1), call("bad", 1), call("x", 2), call("y", 1), call("x", 3)));
    settle();
    assertThat(committed).as("the other timers do not wait").containsExactly("y1");
    committer.submitAll(List.of(call("x", 4)));
    settle();
    advance(Duration.ofSeconds(1));
    assertThat(committed).containsExactly("y1", "x1", "x2", "x3", "x4");
    assertThat(answers).contains("bad1 failed").hasSize(6);
    assertThat(committer.isIdle()).isTrue();
  }

  @Test
  void repeatedChangesOfAHeldTimerKeepTheirOrderWhenTheirBatchIsRejected() {
    rejectBadAndHoldX(2);
    committer.submitAll(List.of(call("x", 1)));
    settle();
    Call bad = new Call(new Change.Cancel(new TimerKey("shop", "x"), BAD_VERSION, 0));
    committer.submitAll(List.of(call("x", 2), bad, call("x", 3)));
    settle();
    advance(Duration.ofSeconds(1));
    assertThat(committed).containsExactly("x1", "x2", "x3");
    assertThat(answers).contains("x99 failed").hasSize(4);
    assertThat(committer.isIdle()).isTrue();
  }

  @Test
  void theSecondLaneCommitsFewChangesWhileTheFirstIsStuck() {
    List<Runnable> stuck = new ArrayList<>();
    committer = committer(stuck::add, steps);
    committer.submitAll(List.of(call("x", 1)));
    submitTimers(1);
    settle();
    assertThat(committed).as("the first lane may commit them soon").isEmpty();
    wheel.advanceBy(CommitLane.SLOW);
    submitTimers(2);
    committer.submitAll(List.of(call("x", 2)));
    settle();
    assertThat(committed).hasSize(10).allMatch(name -> name.matches("t2-\\d2"));
    while (!stuck.isEmpty()) {
      stuck.remove(0).run();
    }
    assertThat(committed).hasSize(22).containsSubsequence("x1", "x2");
    committed.clear();
    submitTimers(3);
    settle();
    assertThat(committed).as("the first lane is no longer slow").isEmpty();
  }

  /** Submits ten changes, each of another timer. */
  private void submitTimers(int version) {
    committer.submitAll(
        IntStream.range(0, 10).mapToObj(i -> call("t" + version + "-" + i, version)).toList());
  }
}
