// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests handlers that hold no thread while they wait. */
@Tag("promise-51")
class AsyncHandlerTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final Map<String, CompletableFuture<Void>> calls = new LinkedHashMap<>();

  /** Creates the stage that the handler returns. */
  private Function<Firing, CompletionStage<?>> answer = this::call;

  private final AsyncHandler handler = firing -> answer.apply(firing);
  private final Scene scene =
      new Scene(
          builder ->
              builder
                  .asyncHandler("remote", handler, 2, LIMIT)
                  .asyncHandler("patient", handler, 2, null)
                  .asyncHandler("many", handler, 8, null));

  private CompletableFuture<Void> call(Firing firing) {
    CompletableFuture<Void> call = new CompletableFuture<>();
    calls.put(firing.id() + firing.attempt(), call);
    return call;
  }

  private static TimerSpec spec(String id) {
    return Scene.spec(id).handler("remote").after(Duration.ZERO);
  }

  private void start(String id) {
    start(spec(id).retry(Scene.ONCE));
  }

  private void start(TimerSpec spec) {
    scene.scheduler.schedule(spec);
    scene.kit.settle();
  }

  private void complete(String call) {
    calls.get(call).complete(null);
    scene.kit.settle();
  }

  private void fail(String call, Throwable error) {
    calls.get(call).completeExceptionally(error);
    scene.kit.settle();
  }

  private void hasFailed(String id, String error) {
    assertThat(scene.state(id)).isEqualTo(TimerState.FAILED);
    assertThat(scene.info(id).lastError().orElse("")).contains(error);
    assertThat(scene.info(id).attempts()).hasSize(1);
    assertThat(scene.scheduler.stats().running()).isZero();
  }

  // The end of an attempt

  @Test
  void aQuarterThatHasEndedIsReplacedByNewClaimsAtOnce() {
    for (int i = 100; i < 120; i++) {
      start(spec("t" + i).handler("many"));
    }
    assertThat(claimed()).isEqualTo(16);
    complete("t1001");
    complete("t1011");
    complete("t1021");
    assertThat(claimed()).isEqualTo(13);
    complete("t1031");
    assertThat(claimed()).isEqualTo(16);
    for (int i = 104; i < 120; i++) {
      complete("t" + i + "1");
    }
    assertThat(claimed()).isZero();
    assertThat(scene.scheduler.stats().succeeded()).isEqualTo(20);
  }

  private long claimed() {
    return IntStream.range(100, 120)
        .filter(i -> scene.state("t" + i) == TimerState.RUNNING)
        .count();
  }

  @Test
  void runsUntilItsStageIsComplete() {
    start("a");
    scene.advance(9_999);
    assertThat(scene.state("a")).isEqualTo(TimerState.RUNNING);
    assertThat(scene.scheduler.stats().running()).isEqualTo(1);
    complete("a1");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.stats().running()).isZero();
    assertThat(scene.scheduler.stats().succeeded()).isEqualTo(1);
  }

  @Test
  void holdsNoThreadMeanwhile() {
    start("a");
    // The only thread of the kit has returned.
    scene.schedule("b", 0);
    scene.kit.settle();
    assertThat(scene.fired).hasSize(1);
  }

  @Test
  void acceptsACompleteStage() {
    answer = firing -> CompletableFuture.completedStage("done");
    start("a");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void countsWhileItsStageIsPending() {
    start("a");
    start("b");
    start("c");
    assertThat(calls).containsOnlyKeys("a1", "b1");
    complete("b1");
    assertThat(calls).containsOnlyKeys("a1", "b1", "c1");
  }

  @Test
  void failsWithTheErrorOfItsStage() {
    answer = firing -> call(firing).thenApply(nothing -> "wrapped, if the call fails");
    start("a");
    fail("a1", new IOException("connection reset"));
    hasFailed("a", "java.io.IOException: connection reset");
  }

  @Test
  void failsWithItsException() {
    answer =
        firing -> {
          throw new IllegalStateException("not configured");
        };
    start("a");
    hasFailed("a", "not configured");
  }

  @Test
  void failsWithoutAStage() {
    answer = firing -> null;
    start("a");
    hasFailed("a", "the handler returned null");
  }

  @Test
  void failsWithAFaultyStage() {
    answer =
        firing ->
            new CompletableFuture<Void>() {
              @Override
              public CompletableFuture<Void> toCompletableFuture() {
                throw new UnsupportedOperationException("no future");
              }
            };
    start("a");
    hasFailed("a", "no future");
  }

  @Test
  void isRetriedAfterAFailure() {
    start(spec("a"));
    fail("a1", new IOException("503"));
    assertThat(scene.state("a")).isEqualTo(TimerState.RETRYING);
    scene.advance(1_000);
    complete("a2");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.info("a").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.FAILED, Attempt.End.SUCCEEDED);
  }

  @Test
  void decisionsCountUntilItsStageIsComplete() {
    answer = firing -> call(firing).thenRun(() -> firing.giveUp("410 Gone"));
    start("a");
    complete("a1");
    hasFailed("a", "410 Gone");
  }

  // Each attempt ends once

  @Test
  void endsOnceIfItsStageNotifiesTwice() {
    answer =
        firing ->
            new CompletableFuture<Void>() {
              @Override
              public CompletableFuture<Void> whenComplete(
                  BiConsumer<? super Void, ? super Throwable> action) {
                action.accept(null, null);
                action.accept(null, new IOException("and again"));
                throw new IllegalStateException("and then it throws");
              }
            };
    for (String id : List.of("a", "b", "c")) {
      start(id);
      assertThat(scene.state(id)).isEqualTo(TimerState.COMPLETED);
    }
    assertThat(scene.scheduler.stats().running()).isZero();
    answer = this::call;
    start("d");
    start("e");
    start("f");
    assertThat(calls).containsOnlyKeys("d1", "e1"); // the limit still holds
  }

  @Test
  void laterCompletionsChangeNothing() {
    List<Firing> firings = new ArrayList<>();
    answer =
        firing -> {
          firings.add(firing);
          return call(firing);
        };
    start("a");
    complete("a1");
    firings.get(0).giveUp("too late");
    fail("a1", new IOException("too late"));
    calls.get("a1").obtrudeException(new IOException("too late"));
    scene.advance(120_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.info("a").attempts()).hasSize(1);
  }

  @Test
  void mayCompleteOnAnyThread() throws InterruptedException {
    start("a");
    Thread other = new Thread(() -> calls.get("a1").complete(null));
    other.start();
    other.join();
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  /** The stage is complete, but the notification was lost. */
  @Test
  void endsWithinAMinuteIfItCompletesOnAStackThatIsFull() {
    start(spec("a").handler("patient"));
    completeOnAFullStack("a1", 0);
    scene.advance(60_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(scene.scheduler.stats().running()).isZero();
    start("b");
    complete("b1");
    assertThat(scene.state("b")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void succeedsIfItIsCompleteAtItsTimeout() {
    start("a");
    completeOnAFullStack("a1", 0);
    scene.advance(10_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  private int completeOnAFullStack(String call, int depth) {
    try {
      return depth == Integer.MAX_VALUE ? 0 : completeOnAFullStack(call, depth + 1);
    } catch (StackOverflowError e) {
      calls.get(call).complete(null); // throws again until the stack has just enough room
      return 0;
    }
  }

  // Timeouts

  @Test
  void isCancelledAtItsTimeout() {
    start("a");
    scene.advance(9_999);
    assertThat(calls.get("a1")).isNotDone();
    scene.advance(1);
    assertThat(calls.get("a1")).isCancelled();
    hasFailed("a", "exceeded its time limit of PT10S");
  }

  @Test
  void endsAtItsTimeoutEvenIfItsStageDoesNot() {
    answer =
        firing ->
            new CompletableFuture<Void>() {
              @Override
              public boolean cancel(boolean mayInterrupt) {
                throw new IllegalStateException("never");
              }
            };
    start("a");
    start("b");
    start("c"); // waits for a slot
    scene.advance(10_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    assertThat(scene.scheduler.stats().running()).isEqualTo(1);
    scene.advance(10_000);
    hasFailed("c", "exceeded its time limit");
  }

  @Test
  void isCancelledOnceAThreadForItsListenersIsAvailable() {
    Stand stand = new Stand();
    DurableTimer scheduler =
        stand.start(
            InMemoryTimerStore.create(),
            builder -> builder.asyncHandler("remote", handler, 2, LIMIT));
    scheduler.schedule(spec("a").retry(Scene.ONCE));
    stand.settle();
    stand.handlers.refusal = new RejectedExecutionException("full");
    stand.advance(LIMIT);
    assertThat(scheduler.timer("shop", "a").get().orElseThrow().state())
        .isEqualTo(TimerState.FAILED);
    assertThat(calls.get("a1")).isNotDone();
    stand.handlers.refusal = null;
    stand.advance(Duration.ofSeconds(1));
    assertThat(calls.get("a1")).isCancelled();
  }

  @Test
  void cancelsItsTimeoutAtTheEnd() {
    start("a");
    complete("a1");
    List<Throwable> late = new ArrayList<>();
    calls.put("b1", new CompletableFuture<>());
    answer = firing -> calls.get("b1").whenComplete((nothing, error) -> late.add(error));
    scene.advance(5_000);
    start("b");
    scene.advance(5_000);
    assertThat(late).isEmpty();
  }

  // Cancel and close

  @Test
  void continuesAfterACancel() {
    start("a");
    assertThat(scene.scheduler.timer("shop", "a").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.RUNNING);
    scene.kit.settle();
    assertThat(calls.get("a1")).isNotDone();
    fail("a1", new IOException("503"));
    scene.advance(60_000);
    assertThat(calls).containsOnlyKeys("a1"); // no further attempt
    assertThat(scene.state("a")).isEqualTo(TimerState.CANCELLED);
  }

  @Test
  void isCancelledByACloseAfterItsShutdownTimeout() {
    start(spec("a"));
    scene.scheduler.close();
    scene.kit.settle();
    assertThat(calls.get("a1")).isCancelled();
    assertThat(scene.scheduler.stats().running()).isZero();
    scene.reopen();
    complete("a2");
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void isWaitedForByAClose() throws InterruptedException {
    InMemoryTimerStore store = InMemoryTimerStore.create();
    CompletableFuture<Firing> begun = new CompletableFuture<>();
    CompletableFuture<Void> remote = new CompletableFuture<>();
    DurableTimer scheduler =
        DurableTimer.builder(store)
            .asyncHandler(
                "remote",
                firing -> {
                  begun.complete(firing);
                  return remote;
                },
                1,
                null)
            .start();
    scheduler.schedule(spec("a"));
    begun.join();
    Thread closer = Threads.startAndAwaitWaiting(() -> scheduler.close(Duration.ofDays(1)));
    remote.complete(null);
    closer.join();
    assertThat(store.reopen().get(begun.join().key()).state()).isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void mayCompleteAfterTheClose() {
    start("a");
    CompletableFuture<Void> heedless = new CompletableFuture<>();
    answer = firing -> heedless.copy();
    start("b");
    scene.scheduler.close();
    heedless.complete(null);
    scene.kit.settle();
    assertThat(scene.scheduler.stats().running()).isZero();
  }

  // Crashes and other owners

  @Test
  void isAttemptedAgainAfterAKill() {
    start(spec("a"));
    scene.restart();
    assertThat(calls).containsOnlyKeys("a1", "a2");
    complete("a2");
    assertThat(scene.info("a").attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
  }

  @Test
  void recordsNoEndOnceAnotherSessionOwnsItsShard() {
    DurableTestkit kit = DurableTestkit.create();
    InMemoryTimerStore data =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ZERO, Duration.ofSeconds(1)));
    InMemoryTimerStore firstSession = data.join();
    InMemoryTimerStore secondSession = data.join();
    DurableTimer first =
        kit.start(firstSession, builder -> builder.asyncHandler("remote", handler, 2, null));
    DurableTimer second =
        kit.start(secondSession, builder -> builder.asyncHandler("remote", handler, 2, null));
    firstSession.takeShard(0);
    first.schedule(spec("a"));
    kit.settle();
    secondSession.takeShard(0);
    kit.settle();
    assertThat(calls).containsOnlyKeys("a1", "a2");
    calls.get("a1").complete(null);
    kit.settle();
    assertThat(second.timer("shop", "a").get().orElseThrow().state()).isEqualTo(TimerState.RUNNING);
    assertThat(first.stats().running()).isZero();
    calls.get("a2").completeExceptionally(new IOException("503"));
    kit.settle();
    assertThat(second.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.FAILED);
  }

  @Test
  void isNotCalledAsAHandler() {
    assertThatThrownBy(() -> handler.handle(null))
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
