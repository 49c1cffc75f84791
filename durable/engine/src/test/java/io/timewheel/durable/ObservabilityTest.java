// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.model.UnreadablePayloadException;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.testkit.FaultyStore;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Verifies statistics, the log and Flight Recorder. */
class ObservabilityTest {
  /** Starts Flight Recorder, so that each scheduler loads its events when it is created. */
  @BeforeAll
  static void useFlightRecorder() {
    FlightRecorder.getFlightRecorder();
  }

  @RegisterExtension private final LogLines log = new LogLines(Level.INFO);

  /** The running attempts of the handler {@code slow}. */
  private final Deque<CompletableFuture<Void>> slow = new ArrayDeque<>();

  private final Scene scene =
      new Scene(
          builder ->
              builder
                  .handler(
                      "fails",
                      firing -> {
                        throw new IllegalStateException("no luck");
                      })
                  .asyncHandler(
                      "slow",
                      firing -> {
                        slow.add(new CompletableFuture<>());
                        return slow.getLast();
                      },
                      1,
                      null));

  private void schedule(String id, String handlerName) {
    scene.scheduler.schedule(
        TimerSpec.of("ns", id)
            .handler(handlerName)
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
  }

  @Test
  void logsOneLineWhenTheStoreFailsAndOneWhenItAnswersAgain() {
    schedule("a", "h");
    scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    scene.kit.advanceBy(Duration.ofSeconds(30));
    scene.store.faults(changes -> FaultyStore.Fault.NONE);
    scene.kit.advanceBy(Duration.ofSeconds(30));
    assertThat(log.lines()).hasSize(2);
    assertThat(log.lines().get(0)).contains("the store fails", "injected by the test");
    assertThat(log.lines().get(1)).isEqualTo("the store answers again");
  }

  @Test
  void aFailedCommitIsReportedAlthoughReadsSucceed() {
    schedule("a", "h");
    scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    scene.kit.advanceBy(Duration.ofMinutes(10)); // maintenance and windows read the store
    assertThat(scene.scheduler.stats().storeAvailable()).isFalse();
    assertThat(scene.scheduler.stats().failedCommits()).isGreaterThan(100);
    scene.store.faults(changes -> FaultyStore.Fault.NONE);
    scene.kit.advanceBy(Duration.ofSeconds(10));
    assertThat(scene.scheduler.stats().storeAvailable()).isTrue();
  }

  @Test
  void oneTransientFailureIsNotReportedButManyConsecutiveOnesAre() {
    schedule("a", "h");
    scene.store.faults(changes -> FaultyStore.Fault.TRANSIENT);
    scene.kit.advanceBy(Duration.ofMillis(1_100));
    assertThat(scene.scheduler.stats().failedCommits()).isBetween(1L, 3L);
    assertThat(scene.scheduler.stats().storeAvailable()).isTrue();
    scene.kit.advanceBy(Duration.ofSeconds(10));
    assertThat(scene.scheduler.stats().storeAvailable()).isFalse();
    assertThat(log.lines()).hasSize(1);
  }

  @Test
  void anOldFailureNoLongerCounts() {
    scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    assertThatThrownBy(() -> schedule("a", "h")).hasMessageContaining("injected by the test");
    scene.kit.advanceBy(Duration.ofSeconds(9));
    assertThat(scene.scheduler.stats().storeAvailable()).isFalse();
    scene.kit.advanceBy(Duration.ofSeconds(2)); // no change waits, and no call has come since
    assertThat(scene.scheduler.stats().storeAvailable()).isTrue();
  }

  private List<String> troubles() {
    return log.lines().stream().filter(line -> !line.contains("is scheduled for")).toList();
  }

  @Test
  void problemsAreLoggedOnceAndThenCounted() {
    for (int i = 0; i < 10; i++) {
      schedule("u" + i, "unknown");
    }
    scene.kit.advanceBy(Duration.ofSeconds(2));
    assertThat(troubles())
        .containsExactly("timer ns/u0: blocked: no live node knows the handler \"unknown\"");
    scene.kit.advanceBy(Duration.ofMinutes(5));
    assertThat(troubles())
        .hasSize(2)
        .contains("blocked: 9 more; the latest: ns/u9: no live node knows the handler \"unknown\"");
    schedule("later", "unknown");
    scene.kit.advanceBy(Duration.ofSeconds(2));
    assertThat(troubles().get(2)).startsWith("timer ns/later: blocked");
  }

  @Test
  void droppedRunsAreLoggedWithTheirNumber() {
    scene.scheduler.schedule(
        TimerSpec.of("ns", "report")
            .every(Duration.ofMinutes(10))
            .missed(MissedRuns.SKIP)
            .handler("h"));
    scene.scheduler.timer("ns", "report").pause();
    scene.kit.advanceBy(Duration.ofMinutes(15)); // past one run and its grace
    scene.scheduler.timer("ns", "report").resume();
    scene.kit.settle();
    assertThat(troubles()).containsExactly("timer ns/report: behind: missed runs dropped: 1");
  }

  @Test
  void aTimerWhoseRunsTakeLongerThanItsPeriodIsLoggedOnce() {
    scene.scheduler.schedule(
        TimerSpec.of("ns", "slow")
            .every(Duration.ofSeconds(10))
            .grace(Duration.ofSeconds(30))
            .handler("slow"));
    for (int i = 0; i < 30; i++) {
      scene.kit.advanceBy(Duration.ofSeconds(15));
      slow.remove().complete(null);
      scene.kit.settle();
    }
    assertThat(scene.scheduler.stats().skipped()).isPositive();
    assertThat(troubles())
        .containsExactly(
            "timer ns/slow: runs take longer than the period: missed runs are dropped. Logged once"
                + " for each timer. Schedule it less often, or make its handler faster");
  }

  @Test
  void theLagIsAHistogram() {
    for (int i = 0; i < 98; i++) {
      schedule("t" + i, "h");
    }
    scene.kit.advanceBy(Duration.ofSeconds(1));
    schedule("late", "h");
    schedule("late too", "fails");
    scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    scene.kit.advanceBy(Duration.ofSeconds(2));
    scene.store.faults(changes -> FaultyStore.Fault.NONE);
    scene.kit.advanceBy(Duration.ofSeconds(9));
    var lag = scene.scheduler.stats().lag();
    assertThat(lag.total()).isEqualTo(100);
    assertThat(lag.countWithin(0)).isEqualTo(98);
    assertThat(lag.percentile(98)).isEqualTo(Duration.ofMillis(1));
    assertThat(lag.percentile(99)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(6));
    assertThat(lag.percentile(100)).isEqualTo(lag.max());
  }

  @Test
  void aCloseDuringAReadIsNoFailureOfTheStore() {
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer before = scene.kit.start(data, builder -> builder.handler("nobody", firing -> {}));
    before.schedule(TimerSpec.of("ns", "overdue").handler("nobody").after(Duration.ofSeconds(1)));
    scene.kit.kill(before);
    Stand stand = new Stand();
    stand.skew = Duration.ofMinutes(1);
    boolean[] read = new boolean[1];
    ForwardingTimerStore reading =
        new ForwardingTimerStore(data.reopen()) {
          @Override
          public List<DueTimer> due(int shard, long until, DuePosition after, int limit) {
            List<DueTimer> page = super.due(shard, until, after, limit);
            read[0] |= !page.isEmpty();
            return page;
          }
        };
    DurableTimer[] self = new DurableTimer[1];
    self[0] =
        stand
            .builder(
                reading,
                builder ->
                    builder.clock(
                        () -> {
                          if (read[0]) { // while the timers of a read are put on the wheel
                            read[0] = false;
                            self[0].close(Duration.ZERO);
                            stand.manual.stop();
                          }
                          return stand.now();
                        }))
            .build();
    self[0].start();
    stand.settle();
    assertThat(log.lines()).isEmpty();
  }

  private static void parse(Firing firing) {
    int unused = Integer.parseInt("none");
  }

  private List<String> failures(StackTraces traces) {
    Scene other =
        new Scene(builder -> builder.stackTraces(traces).handler("p", ObservabilityTest::parse));
    other.scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("p")
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    other.kit.advanceBy(Duration.ofSeconds(5));
    assertThat(
            other.scheduler.timer("ns", "a").get().orElseThrow().lastTrace().orElseThrow().lines())
        .hasSizeBetween(3, 20)
        .startsWith("java.lang.NumberFormatException: For input string: \"none\"")
        .anyMatch(line -> line.contains("at " + ObservabilityTest.class.getName() + ".parse("));
    return log.lines();
  }

  @Test
  void eachFailedAttemptIsLoggedWithItsPlaceInTheHandlerAndTheTimeOfTheNext() {
    String failure =
        "attempt %d of ns/a has failed at io\\.timewheel\\.durable\\.ObservabilityTest\\.parse"
            + "\\(ObservabilityTest\\.java:\\d+\\): java\\.lang\\.NumberFormatException: For"
            + " input string: \"none\"; ";
    String next = "the next one is at 2026-01-01T00:00:0\\S+Z";
    String trace = ": java\\.lang\\.NumberFormatException: For input string: \"none\"";
    List<String> lines = failures(StackTraces.FIRST_AND_LAST);
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0)).matches(failure.formatted(1) + next + trace);
    assertThat(lines.get(1)).matches(failure.formatted(2) + next);
    assertThat(lines.get(2)).matches(failure.formatted(3) + "it was the last one" + trace);
  }

  @Test
  void aSettingShowsTheStackTracesOfAllFailedAttemptsOrOfNone() {
    assertThat(failures(StackTraces.ALL))
        .allMatch(line -> line.endsWith(": For input string: \"none\""));
    log.lines().clear();
    assertThat(failures(StackTraces.NONE))
        .hasSize(3)
        .noneMatch(line -> line.endsWith(": For input string: \"none\""));
  }

  @Test
  void theFailuresOfOneHandlerAreBoundedAndThenCounted() {
    for (int i = 10; i < 50; i++) {
      schedule("f" + i, "fails");
    }
    scene.kit.advanceBy(Duration.ofSeconds(2));
    assertThat(log.lines()).hasSize(30);
    scene.kit.advanceBy(Duration.ofMinutes(2));
    assertThat(log.lines()).hasSize(31);
    assertThat(log.lines().get(30))
        .startsWith("failed attempts of the handler fails: 10 more; the latest: attempt 1 of ns/f");
    schedule("later", "fails");
    scene.kit.advanceBy(Duration.ofSeconds(2));
    assertThat(log.lines().get(31)).startsWith("attempt 1 of ns/later has failed at ");
  }

  @Test
  void aFailureWithoutAStackTraceIsLoggedOnce() {
    Scene other =
        new Scene(
            builder ->
                builder.handler(
                    "p",
                    firing -> {
                      throw new RuntimeException("bare", null, false, false) {};
                    }));
    other.scheduler.schedule(
        TimerSpec.of("ns", "a").handler("p").after(Duration.ZERO).retry(Scene.ONCE));
    other.kit.settle();
    assertThat(log.lines()).singleElement().asString().contains("bare; it was the last one");
  }

  @Test
  void anUnreadablePayloadIsNotLogged() {
    Scene other =
        new Scene(
            builder ->
                builder
                    .codec(new RefusingCodec())
                    .handler("typed", String.class, (firing, text) -> {}));
    other.scheduler.schedule(
        TimerSpec.of("ns", "a")
            .handler("typed")
            .payload("secret".getBytes(UTF_8))
            .after(Duration.ZERO)
            .retry(Scene.ONCE));
    other.kit.settle();
    assertThat(other.scheduler.timer("ns", "a").get().orElseThrow().lastError().orElseThrow())
        .endsWith("payload: cannot be read as java.lang.String: no text: secret");
    assertThat(log.lines())
        .containsExactly(
            "attempt 1 of ns/a has failed: "
                + UnreadablePayloadException.class.getName()
                + "; it was the last one");
  }

  /** A codec whose exceptions contain the payload, as those of parsers do. */
  private static final class RefusingCodec implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      throw new UnsupportedOperationException();
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      throw new IllegalStateException("no text: " + new String(payload, UTF_8));
    }
  }

  @Test
  void timesAreReadable() {
    schedule("a", "fails");
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow())
        .asString()
        .contains("2026-01-01T00:00:01Z");
    scene.kit.advanceBy(Duration.ofSeconds(2));
    assertThat(scene.scheduler.timer("ns", "a").get().orElseThrow().attempts().get(0))
        .asString()
        .startsWith("Attempt(1, FAILED, scheduled 2026-01-01T00:00:01Z, began 2026-")
        .endsWith("no luck)");
  }

  @TempDir Path directory;

  @Test
  void flightRecorderSeesAttemptsAndCommits() throws IOException {
    List<RecordedEvent> events;
    try (Recording recording = new Recording()) {
      recording.enable("io.timewheel.durable.Attempt").withoutThreshold();
      recording.enable("io.timewheel.durable.Commit").withoutThreshold();
      recording.start();
      schedule("a", "h");
      schedule("b", "fails");
      scene.store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
      scene.kit.advanceBy(Duration.ofSeconds(1));
      scene.store.faults(changes -> FaultyStore.Fault.NONE);
      scene.kit.advanceBy(Duration.ofSeconds(9));
      recording.stop();
      Path file = directory.resolve("events.jfr");
      recording.dump(file);
      events = RecordingFile.readAllEvents(file);
    }
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().endsWith("Attempt"))
        .extracting(
            event -> event.getString("namespace") + "/" + event.getString("id"),
            event -> event.getString("handler"),
            event -> event.getInt("attempt"),
            event -> event.getClass("failure") == null)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple("ns/a", "h", 1, true),
            org.assertj.core.groups.Tuple.tuple("ns/b", "fails", 1, false));
    assertThat(events)
        .filteredOn(event -> event.getEventType().getName().endsWith("Commit"))
        .anySatisfy(event -> assertThat(event.getString("failure")).contains("by the test"))
        .anySatisfy(event -> assertThat(event.getString("failure")).isNull())
        .allSatisfy(event -> assertThat(event.getInt("changes")).isPositive());
  }
}
