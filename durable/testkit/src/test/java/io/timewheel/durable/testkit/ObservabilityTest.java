// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.RetryPolicy;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import java.io.IOException;
import java.nio.file.Path;
import java.text.MessageFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an operator sees: stats, the log, Flight Recorder. */
class ObservabilityTest {
  private static final Logger LOGGER = Logger.getLogger(DurableTimer.class.getName());

  private final DurableTestkit kit = DurableTestkit.create();
  private final FaultyStore store = new FaultyStore(InMemoryTimerStore.create());
  private final DurableTimer timer =
      kit.start(
          store,
          builder ->
              builder
                  .handler("h", firing -> {})
                  .handler(
                      "fails",
                      firing -> {
                        throw new IllegalStateException("no luck");
                      }));
  private final List<String> lines = new ArrayList<>();
  private final Handler handler = new Lines();
  private Level levelBefore;

  private final class Lines extends Handler {
    @Override
    public void publish(LogRecord record) {
      Object[] parameters = record.getParameters();
      String text =
          parameters == null
              ? record.getMessage()
              : MessageFormat.format(record.getMessage(), parameters);
      lines.add(text + (record.getThrown() == null ? "" : ": " + record.getThrown()));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void listen() {
    levelBefore = LOGGER.getLevel();
    LOGGER.setLevel(Level.INFO);
    LOGGER.addHandler(handler);
    LOGGER.setUseParentHandlers(false);
  }

  @AfterEach
  void stopListening() {
    LOGGER.removeHandler(handler);
    LOGGER.setUseParentHandlers(true);
    LOGGER.setLevel(levelBefore);
  }

  private void schedule(String id, String handlerName) {
    timer.schedule(
        TimerSpec.of("ns", id)
            .handler(handlerName)
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1))));
  }

  @Test
  void oneLineSaysThatTheStoreFailsAndOneThatItAnswersAgain() {
    schedule("a", "h");
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    kit.advanceBy(Duration.ofSeconds(30));
    store.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(30));
    assertThat(lines).hasSize(2);
    assertThat(lines.get(0)).contains("the store fails", "a test wants it so");
    assertThat(lines.get(1)).isEqualTo("the store answers again");
  }

  @Test
  void aCommitThatFailsIsSeenThoughReadingsGoWell() {
    schedule("a", "h");
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    kit.advanceBy(Duration.ofMinutes(10)); // upkeep and windows are read meanwhile
    assertThat(timer.stats().storeAvailable()).isFalse();
    assertThat(timer.stats().failedCommits()).isGreaterThan(100);
    store.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(timer.stats().storeAvailable()).isTrue();
  }

  @Test
  void oneFailureThatPassesIsNoneAndManyInARowAre() {
    schedule("a", "h");
    store.faults(changes -> FaultyStore.Fault.TRANSIENT);
    kit.advanceBy(Duration.ofMillis(1_100));
    assertThat(timer.stats().failedCommits()).isBetween(1L, 3L);
    assertThat(timer.stats().storeAvailable()).isTrue();
    kit.advanceBy(Duration.ofSeconds(10));
    assertThat(timer.stats().storeAvailable()).isFalse();
    assertThat(lines).hasSize(1);
  }

  @Test
  void aFailureOfWhichNothingIsHeardAnyMoreIsOver() {
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    assertThatThrownBy(() -> schedule("a", "h")).hasMessageContaining("a test wants it so");
    kit.advanceBy(Duration.ofSeconds(59));
    assertThat(timer.stats().storeAvailable()).isFalse();
    kit.advanceBy(Duration.ofSeconds(2)); // nothing waits, and nobody has asked since
    assertThat(timer.stats().storeAvailable()).isTrue();
  }

  @Test
  void troublesAreNamedOnceAndThenCounted() {
    for (int i = 0; i < 10; i++) {
      schedule("f" + i, "fails");
      schedule("u" + i, "unknown");
    }
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(lines)
        .containsExactlyInAnyOrder(
            "timer ns/f0 was set aside: java.lang.IllegalStateException: no luck",
            "timer ns/u0 was parked: no handler \"unknown\" here");
    kit.advanceBy(Duration.ofMinutes(5));
    assertThat(lines)
        .hasSize(4)
        .contains(
            "9 more timers were set aside; the latest: ns/f9:"
                + " java.lang.IllegalStateException: no luck",
            "9 more timers were parked; the latest: ns/u9: no handler \"unknown\" here");
    schedule("later", "fails");
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(lines.get(4)).startsWith("timer ns/later was set aside");
  }

  @Test
  void aCloseWhileTheStoreIsReadIsNoFaultOfTheStore() {
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer before = kit.start(data, builder -> {});
    before.schedule(TimerSpec.of("ns", "overdue").handler("nobody").after(Duration.ofSeconds(1)));
    kit.kill(before);
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
                          if (read[0]) { // while what was read is put on the wheel
                            read[0] = false;
                            self[0].close(Duration.ZERO);
                            stand.manual.stop();
                          }
                          return stand.now();
                        }))
            .build();
    self[0].start();
    stand.settle();
    assertThat(lines).isEmpty();
  }

  @Test
  void eachFailureIsLoggedWithItsTraceIfAskedFor() {
    LOGGER.setLevel(Level.FINE);
    timer.schedule(
        TimerSpec.of("ns", "a")
            .handler("fails")
            .after(Duration.ofSeconds(1))
            .retry(new RetryPolicy(2, Duration.ofSeconds(1), Duration.ofSeconds(1))));
    kit.advanceBy(Duration.ofSeconds(5));
    assertThat(lines)
        .containsSubsequence(
            "attempt 1 of ns/a has failed: java.lang.IllegalStateException: no luck",
            "attempt 2 of ns/a has failed: java.lang.IllegalStateException: no luck");
  }

  @Test
  void timesAreReadable() {
    schedule("a", "fails");
    assertThat(timer.get("ns", "a").orElseThrow()).asString().contains("2026-01-01T00:00:01Z");
    kit.advanceBy(Duration.ofSeconds(2));
    assertThat(timer.get("ns", "a").orElseThrow().attempts().get(0))
        .asString()
        .startsWith("Attempt(1, FAILED, scheduled 2026-01-01T00:00:01Z, began 2026-")
        .endsWith("no luck)");
  }

  @Test
  void theLagIsAHistogram() {
    for (int i = 0; i < 98; i++) {
      schedule("t" + i, "h");
    }
    kit.advanceBy(Duration.ofSeconds(1));
    schedule("late", "h");
    schedule("late too", "fails");
    store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
    kit.advanceBy(Duration.ofSeconds(2));
    store.faults(changes -> FaultyStore.Fault.NONE);
    kit.advanceBy(Duration.ofSeconds(9));
    var lag = timer.stats().lag();
    assertThat(lag.total()).isEqualTo(100);
    assertThat(lag.countWithin(0)).isEqualTo(98);
    assertThat(lag.percentile(98)).isEqualTo(Duration.ofMillis(1));
    assertThat(lag.percentile(99)).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(6));
    assertThat(lag.percentile(100)).isEqualTo(lag.max());
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
      store.faults(changes -> FaultyStore.Fault.UNAVAILABLE);
      kit.advanceBy(Duration.ofSeconds(1));
      store.faults(changes -> FaultyStore.Fault.NONE);
      kit.advanceBy(Duration.ofSeconds(9));
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
        .anySatisfy(event -> assertThat(event.getString("failure")).contains("wants it so"))
        .anySatisfy(event -> assertThat(event.getString("failure")).isNull())
        .allSatisfy(event -> assertThat(event.getInt("changes")).isPositive());
  }
}
