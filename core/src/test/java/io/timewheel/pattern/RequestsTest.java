// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.timewheel.concurrent.Deadline;
import io.timewheel.pattern.Requests.Channel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@SuppressWarnings("FutureReturnValueIgnored")
class RequestsTest {
  private final Rig rig = new Rig();
  private final List<String> late = new ArrayList<>();
  private final Requests<String> requests = make(rig);
  private final Channel<String> channel = requests.channel();

  private Requests<String> make(Rig rig) {
    return Requests.<String>builder(rig.timer)
        .executor(rig)
        .onLate((where, id, answer) -> late.add(id + answer))
        .onError(rig::error)
        .build();
  }

  @Test
  void answerInTimeCompletesTheFuture() {
    CompletableFuture<String> one = channel.start(1, ofMillis(10));
    CompletableFuture<String> two = channel.start(-2, ofMillis(10));
    assertThat(requests.size()).isEqualTo(2);

    assertThat(channel.complete(-2, "b")).isTrue();
    assertThat(two).isCompletedWithValue("b");
    assertThat(one).isNotDone();
    assertThat(rig.timer.pendingTimeouts()).isOne();
    assertThat(channel.size()).isOne();
    assertThat(late).isEmpty();
  }

  @Test
  void timesOutOnTheExecutor() {
    CompletableFuture<String> answer = channel.start(7, ofMillis(10));
    rig.advanceMillis(9);
    assertThat(channel.size()).isOne();
    rig.advanceMillis(1);
    assertThat(answer).as("not on the clock's thread").isNotDone();
    rig.runTasks();
    assertThatExceptionOfType(java.util.concurrent.ExecutionException.class)
        .isThrownBy(answer::get)
        .withCauseInstanceOf(TimeoutException.class)
        .withMessageContaining("no answer to request 7 within PT0.01S");
    assertThat(channel.size()).isZero();
  }

  @Test
  void lateAnswerGoesToTheHook() {
    CompletableFuture<String> answer = channel.start(7, ofMillis(10));
    rig.advanceMillis(10);
    assertThat(channel.complete(7, "a")).as("timed out, though not notified yet").isFalse();
    rig.runTasks();
    assertThat(answer).isCompletedExceptionally();
    assertThat(channel.complete(7, "b")).isFalse();
    assertThat(channel.complete(8, "c")).as("never asked").isFalse();
    assertThat(late).containsExactly("7a", "7b", "8c");
  }

  @Test
  void hookThatThrowsIsReported() {
    Requests<String> bad =
        Requests.<String>builder(rig.timer)
            .executor(rig)
            .onError(rig::error)
            .onLate(
                (where, id, answer) -> {
                  throw new IllegalStateException("late badly");
                })
            .build();
    assertThat(bad.channel().complete(1, "a")).isFalse();
    assertThat(rig.errorMessages()).containsExactly("late badly");
    assertThat(rig.errorKeys).containsExactly("Requests 1");
  }

  @Test
  void failCompletesTheFutureOnce() {
    CompletableFuture<String> answer = channel.start(7, ofMillis(10));
    IllegalStateException cause = new IllegalStateException();
    assertThat(channel.fail(7, cause)).isTrue();
    assertThat(channel.fail(7, cause)).isFalse();
    assertThat(answer).isCompletedExceptionally();
    rig.assertNothingPending();
  }

  @Test
  void idIsTakenOnItsChannelWhileInFlight() {
    CompletableFuture<String> first = channel.start(7, ofMillis(10));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> channel.start(7, ofMillis(10)))
        .withMessage("id: 7 (expected: an ID of no request in flight)");
    Channel<String> other = requests.channel();
    other.start(7, ofMillis(10));

    other.complete(7, "other");
    assertThat(first).isNotDone();
    channel.complete(7, "first");
    assertThat(first).isCompletedWithValue("first");
    channel.start(7, ofMillis(10));
    assertThat(channel.size()).isOne();
  }

  /**
   * The timeout of the first request, or a completion of its future by the user, must not affect
   * the second.
   */
  @Test
  void oldFutureDoesNotAffectALaterRequestWithItsId() {
    CompletableFuture<String> first = channel.start(7, ofMillis(10));
    channel.complete(7, "first");
    CompletableFuture<String> second = channel.start(7, ofMillis(20));
    assertThat(first.cancel(true)).isFalse();
    rig.liveMillis(10);
    assertThat(channel.complete(7, "second")).isTrue();
    assertThat(second).isCompletedWithValue("second");
  }

  @Test
  void userMayCompleteTheFuture() {
    channel.start(1, ofMillis(10)).cancel(true);
    channel.start(2, ofMillis(10)).complete("mine");
    channel.start(3, ofMillis(10)).completeExceptionally(new IllegalStateException());
    assertThat(channel.size()).isZero();
    rig.assertNothingPending();
    assertThat(channel.complete(2, "theirs")).isFalse();
    assertThat(late).containsExactly("2theirs");
  }

  /** Otherwise, the future would be completed, and the request would stay until its timeout. */
  @Test
  void userMayCompleteTheFutureAsynchronously() {
    CompletableFuture<String> one = channel.start(1, ofMillis(10));
    CompletableFuture<String> two = channel.start(2, ofMillis(10));
    assertThat(one.completeAsync(() -> "mine", rig)).isSameAs(one);
    two.completeAsync(
        () -> {
          throw new IllegalStateException();
        },
        rig);
    assertThat(channel.size()).isEqualTo(2);
    rig.runTasks();
    assertThat(one).isCompletedWithValue("mine");
    assertThat(two).isCompletedExceptionally();
    assertThat(channel.size()).isZero();
    rig.assertNothingPending();
  }

  /** Like the JDK's futures. */
  @Test
  void skipsTheSupplierOfAnAnsweredRequest() {
    CompletableFuture<String> answer = channel.start(1, ofMillis(10));
    AtomicInteger asked = new AtomicInteger();
    answer.completeAsync(() -> "mine" + asked.incrementAndGet(), rig);
    channel.complete(1, "theirs");
    rig.runTasks();
    assertThat(asked).hasValue(0);
    assertThat(answer).isCompletedWithValue("theirs");
  }

  @Test
  void derivedFuturesAreOrdinary() {
    CompletableFuture<String> answer = channel.start(1, ofMillis(10));
    CompletableFuture<String> derived = answer.thenApply(text -> text + "!");
    derived.cancel(true);
    assertThat(channel.size()).isOne();
    channel.complete(1, "a");
    assertThat(answer).isCompletedWithValue("a");
  }

  @Test
  @Tag("promise-Requests")
  void closingAChannelFailsItsOwnRequestsOnly() {
    Channel<String> other = requests.channel();
    CompletableFuture<String> theirs = other.start(1, ofMillis(10));
    List<CompletableFuture<String>> mine = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      mine.add(channel.start(i, ofMillis(10)));
    }
    IllegalStateException cause = new IllegalStateException("closed");
    AtomicInteger open = new AtomicInteger(-1);
    mine.get(0).whenComplete((answer, error) -> open.set((int) rig.timer.pendingTimeouts()));

    assertThat(channel.close(cause)).isEqualTo(100);

    assertThat(mine).allMatch(CompletableFuture::isCompletedExceptionally);
    assertThat(open).as("all left the timer before any future was completed").hasValue(1);
    assertThat(theirs).isNotDone();
    assertThat(requests.size()).isOne();
    assertThat(channel.close(new IllegalStateException())).isZero();
    assertThat(channel.start(5, ofMillis(10)))
        .failsWithin(ofMillis(0))
        .withThrowableThat()
        .withCause(cause);
    assertThat(channel.size()).isZero();
  }

  @Test
  void closeFailsAllRequestsAndOpensNoChannel() {
    CompletableFuture<String> answer = channel.start(1, ofMillis(10));
    requests.close();
    assertThat(answer).isCancelled();
    rig.assertNothingPending();
    assertThatIllegalStateException()
        .isThrownBy(requests::channel)
        .withMessage("the requests are closed");
    assertThat(requests.size()).isZero();
  }

  /** Otherwise, their callers would wait forever. */
  @Test
  void stoppedTimerFailsRequestsInFlight() {
    CompletableFuture<String> answer = channel.start(1, ofMillis(10));
    rig.timer.stop();
    rig.runTasks();
    assertThat(answer).isCancelled();
    // Not by join, which may wrap exceptions.
    assertThat(answer.handle((value, failure) -> failure).join())
        .isInstanceOf(CancellationException.class)
        .hasMessage("the timer was stopped");
    assertThatIllegalStateException().isThrownBy(() -> channel.start(2, ofMillis(10)));
    assertThat(channel.size()).as("nothing was left behind").isZero();
  }

  @Test
  @Tag("promise-All")
  void refusedRequestIsNotInFlight() {
    Rig full = new Rig(1);
    Channel<String> limited = make(full).channel();
    limited.start(1, ofMillis(10));
    assertThatExceptionOfType(RejectedExecutionException.class)
        .isThrownBy(() -> limited.start(2, ofMillis(10)));
    assertThat(limited.size()).isOne();
  }

  @Test
  void executorThatRejectsLosesNoTimeout() {
    rig.takes = false;
    rig.rejects = true;
    CompletableFuture<String> answer = channel.start(1, ofMillis(10));
    rig.advanceMillis(10);
    assertThat(answer).isCompletedExceptionally();
    assertThat(rig.errorKeys).containsExactly("Requests 1");
  }

  @Test
  void hasItsOwnThreadsByDefault() {
    Channel<String> own = Requests.<String>builder(rig.timer).build().channel();
    CompletableFuture<String> answer = own.start(1, ofMillis(10));
    CompletableFuture<String> thread = answer.handle((a, e) -> Thread.currentThread().getName());
    rig.advanceMillis(10);
    assertThat(thread.join()).isIn("timewheel-requests", Thread.currentThread().getName());
    assertThat(answer).isCompletedExceptionally();
  }

  /**
   * Regression: the timeouts of all channels waited for one task, and the rest ran on the timer
   * thread.
   */
  @Test
  @Tag("promise-Requests")
  void dependentThatBlocksDelaysNoOther() {
    List<String> notified = new ArrayList<>();
    channel
        .start(1, ofMillis(10))
        .whenComplete(
            (answer, error) -> {
              rig.runTasks(); // as other threads of the executor do while this one is blocked
              notified.add("blocked");
            });
    channel.start(2, ofMillis(10)).whenComplete((answer, error) -> notified.add("same channel"));
    requests
        .channel()
        .start(1, ofMillis(10))
        .whenComplete((answer, error) -> notified.add("other channel"));
    rig.liveMillis(10);
    assertThat(notified).containsExactly("same channel", "other channel", "blocked");
  }

  @Test
  @Tag("promise-Requests")
  void manyThatTimeOutTogetherAllGoToTheExecutor() {
    int many = 70_000; // more than the former queue could hold
    for (int id = 0; id < many; id++) {
      channel.start(id, ofMillis(10));
    }
    List<CompletableFuture<String>> answers = new ArrayList<>();
    answers.add(channel.start(many, ofMillis(10)));
    rig.advanceMillis(10);
    assertThat(rig.tasks).hasSize(many + 1);
    assertThat(answers.get(0)).isNotDone();
    rig.runTasks();
    assertThat(answers.get(0)).isCompletedExceptionally();
  }

  @Test
  @Tag("promise-All")
  void droppedTaskAffectsOnlyItsOwnRequest() {
    rig.takes = false;
    CompletableFuture<String> dropped = channel.start(1, ofMillis(10));
    rig.advanceMillis(10);
    rig.takes = true;
    CompletableFuture<String> next = channel.start(2, ofMillis(10));
    rig.liveMillis(10);
    assertThat(next).isCompletedExceptionally();
    assertThat(dropped).isNotDone();
  }

  @Test
  void lateAnswerComesWithItsChannel() {
    List<Channel<String>> on = new ArrayList<>();
    Channel<String> notified =
        Requests.<String>builder(rig.timer)
            .onLate((where, id, answer) -> on.add(where))
            .build()
            .channel();
    notified.complete(1, "late");
    assertThat(on).containsExactly(notified);
  }

  @Test
  void requestOfVoidIsAnsweredWithNull() {
    List<Object> lateOnes = new ArrayList<>();
    Channel<Void> voids =
        Requests.<Void>builder(rig.timer)
            .onLate((where, id, answer) -> lateOnes.add(id))
            .build()
            .channel();
    CompletableFuture<Void> answer = voids.start(1, ofMillis(10));
    assertThat(voids.complete(1, null)).isTrue();
    assertThat(answer).isCompletedWithValue(null);
    assertThat(voids.complete(1, null)).isFalse();
    assertThat(lateOnes).containsExactly(1L);
  }

  @Test
  void requestTimesOutAtTheDeadlineOfItsCaller() {
    Deadline deadline = Deadline.after(ofMillis(15), rig.timer.timeSource());
    rig.liveMillis(5);
    CompletableFuture<String> answer = channel.start(1, deadline);
    CompletableFuture<String> tooLate = channel.start(2, deadline.within(ofMillis(0)));
    rig.liveMillis(9);
    assertThat(answer).isNotDone();
    assertThat(tooLate).isCompletedExceptionally();
    rig.liveMillis(1);
    assertThat(answer).isCompletedExceptionally();
  }
}
