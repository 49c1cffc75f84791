// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.FinishingHandler;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.durable.testkit.FaultyStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Verifies that statistics, events, logs and history of an attempt agree with its stored end. */
class AttemptEndsTest {
  /** Starts Flight Recorder, so that each scheduler loads its events when it is created. */
  @BeforeAll
  static void useFlightRecorder() {
    FlightRecorder.getFlightRecorder();
  }

  private static final RetryPolicy TWICE =
      new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1));

  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);
  @TempDir private Path directory;

  /** Handles a firing, and commits the change that records its success. */
  private interface Single {
    Outcome handle(Firing firing, Change.Finish success);
  }

  private Single finishing = (firing, success) -> commit(success);
  private final Scene scene =
      new Scene(
          builder ->
              builder
                  .finishingHandler(
                      "finishing", each((firing, success) -> finishing.handle(firing, success)), 1)
                  .handler("fails", AttemptEndsTest::fail));

  private static FinishingHandler each(Single single) {
    return attempts ->
        attempts.forEach(
            attempt -> attempt.recorded(single.handle(attempt.firing(), attempt.success())));
  }

  private Outcome commit(Change.Finish success) {
    return scene.data.commit(List.of(success)).get(0);
  }

  private static Outcome refused(Outcome.Answer answer) {
    return new Outcome(answer, 0, null);
  }

  private static void fail(Firing firing) {
    throw new IllegalStateException("no luck");
  }

  private void schedule(String handler, RetryPolicy retry) {
    scene.scheduler.schedule(
        TimerSpec.of("shop", "a").handler(handler).after(Duration.ZERO).retry(retry));
  }

  private List<Attempt.End> ends() {
    return scene.info("a").attempts().stream().map(Attempt::end).toList();
  }

  private DurableStats stats() {
    return scene.scheduler.stats();
  }

  // Handlers that record their own success

  @Test
  void aSuccessThatIsCommittedIsCountedOnce() {
    schedule("finishing", TWICE);
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.COMPLETED);
    assertThat(stats().succeeded()).isEqualTo(1);
    assertThat(stats().failed()).isZero();
  }

  @Test
  void aRefusedSuccessIsAFailedAttempt() {
    finishing =
        (firing, success) ->
            firing.attempt() == 1 ? refused(Outcome.Answer.OUTDATED) : commit(success);
    schedule("finishing", TWICE);
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.RETRYING);
    assertThat(scene.info("a").lastError().orElseThrow()).contains("refused", "OUTDATED");
    assertThat(stats().succeeded()).isZero();
    assertThat(stats().failed()).isEqualTo(1);
    scene.advance(2_000);
    assertThat(ends()).containsExactly(Attempt.End.FAILED, Attempt.End.SUCCEEDED);
    assertThat(stats().succeeded()).isEqualTo(1);
  }

  @Test
  void aRefusedSuccessOfTheLastAttemptFails() {
    finishing = (firing, success) -> refused(Outcome.Answer.OUTDATED);
    schedule("finishing", Scene.ONCE);
    scene.kit.settle();
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    assertThat(stats().exhausted()).isEqualTo(1);
    assertThat(log.lines()).singleElement().asString().contains("shop/a has failed", "refused");
  }

  @Test
  void flightRecorderSeesARefusedSuccessAsAFailure() throws IOException {
    finishing = (firing, success) -> refused(Outcome.Answer.OUTDATED);
    Path file = directory.resolve("events.jfr");
    try (Recording recording = new Recording()) {
      recording.enable("io.timewheel.durable.Attempt").withoutThreshold();
      recording.start();
      schedule("finishing", TWICE);
      scene.kit.settle();
      recording.stop();
      recording.dump(file);
    }
    assertThat(RecordingFile.readAllEvents(file))
        .filteredOn(event -> event.getEventType().getName().endsWith("Attempt"))
        .singleElement()
        .satisfies(event -> assertThat(event.getClass("failure")).isNotNull());
  }

  @Test
  void aCommittedSuccessWithALostAnswerIsASuccess() {
    finishing =
        (firing, success) -> {
          commit(success);
          throw new StoreException(StoreException.Kind.UNKNOWN, "the answer was lost", null);
        };
    schedule("finishing", Scene.ONCE);
    scene.kit.settle();
    assertThat(ends()).containsExactly(Attempt.End.SUCCEEDED);
    assertThat(stats().succeeded()).isEqualTo(1);
    assertThat(stats().failed()).isZero();
    assertThat(stats().exhausted()).isZero();
    assertThat(log.lines()).singleElement().asString().contains("the answer was lost");
  }

  @Test
  void aSuccessThatAFormerOwnerIsRefusedIsLeftToTheNextOne() {
    InMemoryTimerStore data =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ZERO, Duration.ofSeconds(1)));
    InMemoryTimerStore firstSession = data.join();
    InMemoryTimerStore secondSession = data.join();
    DurableTimer first =
        scene.kit.start(
            firstSession,
            builder ->
                builder.finishingHandler(
                    "finishing",
                    each(
                        (firing, success) -> {
                          secondSession.takeShard(0);
                          return firstSession.commit(List.of(success)).get(0);
                        }),
                    1));
    DurableTimer second =
        scene.kit.start(
            secondSession,
            builder ->
                builder.finishingHandler(
                    "finishing",
                    each((firing, success) -> secondSession.commit(List.of(success)).get(0)),
                    1));
    firstSession.takeShard(0);
    first.schedule(TimerSpec.of("shop", "a").handler("finishing").after(Duration.ZERO));
    scene.advance(2_000);
    assertThat(second.timer("shop", "a").get().orElseThrow().attempts())
        .extracting(Attempt::end)
        .containsExactly(Attempt.End.LOST, Attempt.End.SUCCEEDED);
    assertThat(first.stats().succeeded()).isZero();
    assertThat(first.stats().failed()).isZero();
    assertThat(second.stats().lost()).isEqualTo(1);
    assertThat(second.stats().succeeded()).isEqualTo(1);
  }

  // Ends that are counted once, after their commit

  private void storeIsAvailable(boolean available) {
    scene.store.faults(
        changes ->
            available || changes.stream().noneMatch(Change.Finish.class::isInstance)
                ? FaultyStore.Fault.NONE
                : FaultyStore.Fault.UNAVAILABLE);
  }

  @Test
  void aFailureIsCountedOnceItIsCommitted() {
    storeIsAvailable(false);
    schedule("fails", Scene.ONCE);
    scene.advance(10_000);
    assertThat(stats().fired()).isEqualTo(1);
    assertThat(stats().failed()).isZero();
    assertThat(stats().exhausted()).isZero();
    storeIsAvailable(true);
    scene.advance(10_000);
    assertThat(stats().failed()).isEqualTo(1);
    assertThat(stats().exhausted()).isEqualTo(1);
    assertThat(log.lines()).filteredOn(line -> line.contains("has failed")).hasSize(1);
  }

  @Test
  void aFailureOfAReplacedOrCancelledTimerFailsNoTimer() {
    for (String id : List.of("replaced", "cancelled")) {
      scene.handler =
          firing -> {
            if (firing.id().equals("replaced")) {
              scene.scheduler.schedule(Scene.spec("replaced").after(Duration.ofHours(1)));
            } else {
              scene.scheduler.timer("shop", "cancelled").cancel();
            }
            fail(firing);
          };
      scene.scheduler.schedule(Scene.spec(id).after(Duration.ZERO).retry(Scene.ONCE));
      scene.kit.settle();
    }
    assertThat(scene.state("replaced")).isEqualTo(TimerState.SCHEDULED);
    assertThat(scene.state("cancelled")).isEqualTo(TimerState.CANCELLED);
    assertThat(stats().exhausted()).isZero();
    assertThat(stats().failed()).isEqualTo(1); // the cancelled one
    assertThat(log.lines()).hasSize(2).allMatch(line -> line.startsWith("attempt 1 of shop/"));
  }

  @Test
  void droppedRunsAreCountedOnceTheEndIsCommitted() {
    scene.handler = firing -> scene.kit.skew(scene.scheduler, Duration.ofHours(1));
    storeIsAvailable(false);
    scene.scheduler.schedule(Scene.spec("a").every(Duration.ofMinutes(1)));
    scene.advance(60_000);
    assertThat(scene.fired).isNotEmpty();
    assertThat(stats().skipped()).isZero();
    scene.handler = firing -> {};
    storeIsAvailable(true);
    scene.advance(10_000);
    assertThat(stats().skipped()).isPositive();
  }

  @Test
  void aTimerIsCountedAsBlockedOnceThatIsCommitted() {
    boolean[] available = new boolean[1];
    scene.store.faults(
        changes ->
            available[0] || changes.stream().noneMatch(Change.Park.class::isInstance)
                ? FaultyStore.Fault.NONE
                : FaultyStore.Fault.UNAVAILABLE);
    schedule("unknown", Scene.ONCE);
    scene.kit.settle();
    assertThat(stats().blocked()).isZero();
    available[0] = true;
    scene.advance(10_000);
    assertThat(stats().blocked()).isEqualTo(1);
  }

  // Claims of consumers

  private QueueFiring claim() {
    scene.scheduler.schedule(
        TimerSpec.of("shop", "a").queue("q").after(Duration.ZERO).retry(Scene.ONCE));
    scene.kit.settle();
    CompletableFuture<List<QueueFiring>> claimed =
        scene
            .scheduler
            .async()
            .queue("shop", "q")
            .claim(1, Duration.ofSeconds(30), Duration.ZERO)
            .toCompletableFuture();
    scene.kit.settle();
    return claimed.join().get(0);
  }

  @Test
  void aClaimLeaseThatExpiredIsCountedOnceThatIsCommitted() {
    claim();
    storeIsAvailable(false);
    scene.advance(40_000);
    assertThat(stats().lost()).isZero();
    assertThat(stats().exhausted()).isZero();
    storeIsAvailable(true);
    scene.advance(10_000);
    assertThat(scene.state("a")).isEqualTo(TimerState.FAILED);
    assertThat(stats().lost()).isEqualTo(1);
    assertThat(stats().exhausted()).isEqualTo(1);
  }

  @Test
  void repeatedEndsOfConsumersAreCountedOnce() {
    QueueFiring claimed = claim();
    for (int i = 0; i < 3; i++) {
      scene
          .scheduler
          .async()
          .changeLease(LeaseChange.ack(claimed.firing().fireId(), claimed.leaseToken()));
      scene.kit.settle();
    }
    assertThat(stats().succeeded()).isEqualTo(1);
    QueueFiring second = claim();
    for (int i = 0; i < 3; i++) {
      scene
          .scheduler
          .async()
          .changeLease(
              LeaseChange.nack(
                  second.firing().fireId(), second.leaseToken(), "no luck", Duration.ofSeconds(1)));
      scene.kit.settle();
    }
    assertThat(stats().failed()).isEqualTo(1);
    assertThat(stats().exhausted()).isEqualTo(1);
  }

  private void ack(QueueFiring claimed) {
    scene
        .scheduler
        .async()
        .changeLease(LeaseChange.ack(claimed.firing().fireId(), claimed.leaseToken()));
  }

  private void nack(QueueFiring claimed) {
    scene
        .scheduler
        .async()
        .changeLease(
            LeaseChange.nack(claimed.firing().fireId(), claimed.leaseToken(), "no luck", null));
  }

  @Test
  void successesOfAConsumerInFlightTogetherAreCountedOnce() {
    QueueFiring claimed = claim();
    ack(claimed);
    ack(claimed);
    scene.kit.settle();
    assertThat(stats().succeeded()).isEqualTo(1);
  }

  @Test
  void failuresOfAConsumerInFlightTogetherAreCountedOnce() {
    QueueFiring claimed = claim();
    nack(claimed);
    nack(claimed);
    scene.kit.settle();
    assertThat(stats().failed()).isEqualTo(1);
    assertThat(stats().exhausted()).isEqualTo(1);
    assertThat(log.lines()).hasSize(1);
  }

  @Test
  void aFailureOfAConsumerAfterItsSuccessIsNotCounted() {
    QueueFiring claimed = claim();
    ack(claimed);
    nack(claimed);
    scene.kit.settle();
    assertThat(stats().succeeded()).isEqualTo(1);
    assertThat(stats().failed()).isZero();
    assertThat(stats().exhausted()).isZero();
  }

  private static boolean isLoss(Change change) {
    return change instanceof Change.Finish finish
        && finish.end() == Change.Finish.End.LOST_EXHAUSTED;
  }

  @Test
  void aSuccessOnAnotherNodeBeforeTheLossIsCommittedIsNotCountedHere() {
    QueueFiring claimed = claim();
    ClaimToken token = scene.data.get(claimed.firing().key()).claim().token();
    scene.store.faults(
        changes -> {
          changes.stream()
              .filter(AttemptEndsTest::isLoss)
              .forEach(
                  loss ->
                      commit(
                          new Change.Finish(
                              loss.key(),
                              token,
                              0,
                              Change.Finish.End.SUCCEEDED,
                              TimerRecord.NEVER,
                              null,
                              loss.now())));
          return FaultyStore.Fault.NONE;
        });
    scene.advance(40_000);
    assertThat(ends()).containsExactly(Attempt.End.SUCCEEDED);
    assertThat(stats().succeeded()).isZero();
    assertThat(stats().lost()).isZero();
    assertThat(stats().exhausted()).isZero();
  }

  @Test
  void aLossWithALostAnswerIsCountedOnce() {
    claim();
    boolean[] isAnswerLost = new boolean[1];
    scene.store.faults(
        changes -> {
          if (isAnswerLost[0] || changes.stream().noneMatch(AttemptEndsTest::isLoss)) {
            return FaultyStore.Fault.NONE;
          }
          isAnswerLost[0] = true;
          return FaultyStore.Fault.DONE_BUT_FAILED;
        });
    scene.advance(50_000);
    assertThat(isAnswerLost[0]).isTrue();
    assertThat(stats().lost()).isEqualTo(1);
    assertThat(stats().exhausted()).isEqualTo(1);
  }
}
