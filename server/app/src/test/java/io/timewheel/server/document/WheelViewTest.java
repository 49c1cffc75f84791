// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.api.WheelAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Compares the levels of the wheel with a naive count, and tests how often they are counted. */
class WheelViewTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final Instant NOW = Instant.parse("2026-12-01T09:30:15.250Z");

  private final InstantSource clock = InstantSource.fixed(NOW);
  private final Node node = new Node(clock, () -> "here");
  private final DurableTimer scheduler =
      DurableTimer.builder(node.watch("memory", InMemoryTimerStore.create()))
          .clock(clock)
          .build(); // nothing fires: overdue timers stay overdue
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private long nanos;

  /** The time that each reading of the clock takes. */
  private long lookNanos;

  private final WheelView wheel = new WheelView(node, waiting::add, () -> nanos += lookNanos);

  @AfterEach
  void close() {
    scheduler.close();
  }

  private void at(String namespace, String id, Instant time) {
    scheduler.schedule(TimerSpec.of(namespace, id).at(time).queue("q"));
  }

  private static StoreReads reads(DurableTimer scheduler) {
    StoreReads reads = new StoreReads();
    reads.serve(scheduler, 1);
    return reads;
  }

  private int runWaiting() {
    int count = 0;
    for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) {
      next.run();
      count++;
    }
    return count;
  }

  /** {@return the number of levels that were counted for a request} */
  private int counted(Scope scope) {
    var unused = wheel.answer(reads(scheduler), scope);
    return runWaiting();
  }

  private JsonNode json(Scope scope) {
    CompletableFuture<WheelAnswer> answer = wheel.answer(reads(scheduler), scope);
    runWaiting();
    return MAPPER.readTree(Json.bytes(answer.join()));
  }

  @Test
  void eachSlotEqualsANaiveCount() {
    Random random = new Random(42);
    List<Instant> times = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      double digits = 12 * random.nextDouble(); // logarithmic, up to 30 years
      times.add(NOW.plusMillis((long) Math.pow(10, digits)));
    }
    times.add(Instant.parse("2026-12-01T09:30:15.000Z"));
    times.add(Instant.parse("2026-12-01T09:30:15.999Z"));
    times.add(Instant.parse("2026-12-01T09:30:16.000Z"));
    times.add(Instant.parse("2026-12-01T09:31:15.000Z"));
    for (int i = 0; i < times.size(); i++) {
      at(i % 3 == 0 ? "a" : "b", "t" + i, times.get(i));
    }
    JsonNode all = json(Scope.ALL);
    assertThat(all.get("now").asString()).isEqualTo(NOW.toString());
    assertThat(all.get("window").asString()).isEqualTo("PT1M");
    assertThat(all.get("levels")).hasSize(4);
    level(all.at("/levels/0"), times, "minute", "PT1S", Duration.ofSeconds(1), 60);
    level(all.at("/levels/1"), times, "hour", "PT1M", Duration.ofMinutes(1), 60);
    level(all.at("/levels/2"), times, "day", "PT1H", Duration.ofHours(1), 24);
    level(all.at("/levels/3"), times, "year", "P1D", Duration.ofDays(1), 366);
    Instant end = Instant.parse(all.at("/levels/3/from").asString()).plus(Duration.ofDays(366));
    assertThat(all.get("beyond").asLong())
        .isPositive()
        .isEqualTo(times.stream().filter(time -> !time.isBefore(end)).count());
    assertThat(all.get("overdue").asLong()).isZero();
    long sum = 0;
    for (String namespace : new String[] {"a", "b"}) {
      sum += json(new Scope(Set.of(namespace))).at("/levels/2/counts/0").asLong();
    }
    assertThat(sum).isEqualTo(all.at("/levels/2/counts/0").asLong());
    assertThat(json(new Scope(Set.of("a", "b"))).get("levels")).isEqualTo(all.get("levels"));
  }

  private static void level(
      JsonNode level, List<Instant> times, String name, String slot, Duration length, int slots) {
    assertThat(level.get("name").asString()).isEqualTo(name);
    assertThat(level.get("slot").asString()).isEqualTo(slot);
    assertThat(level.get("counts")).hasSize(slots);
    Instant from = Instant.parse(level.get("from").asString());
    assertThat(from.toEpochMilli() % length.toMillis()).isZero();
    assertThat(NOW).isBetween(from, from.plus(length).minusMillis(1));
    for (int i = 0; i < slots; i++) {
      Instant start = from.plus(length.multipliedBy(i));
      Instant end = start.plus(length);
      assertThat(level.get("counts").get(i).asLong())
          .as("slot %d of the %s", i, name)
          .isEqualTo(
              times.stream().filter(time -> !time.isBefore(start) && time.isBefore(end)).count());
    }
  }

  @Test
  void timersDueBeforeTheFirstSlotAreOverdue() {
    InstantSource early = InstantSource.fixed(NOW.minusSeconds(10));
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer before = DurableTimer.builder(store).clock(early).build();
    before.schedule(TimerSpec.of("a", "late").at(NOW.minusSeconds(5)).queue("q"));
    try (DurableTimer after = DurableTimer.builder(store.reopen()).clock(clock).build()) {
      CompletableFuture<WheelAnswer> answer = wheel.answer(reads(after), Scope.ALL);
      runWaiting();
      assertThat(answer.join().overdue()).isEqualTo(1);
    }
    before.close();
  }

  @Test
  void aLevelIsCountedOnceForAllCallers() {
    var first = wheel.answer(reads(scheduler), Scope.ALL);
    var second = wheel.answer(reads(scheduler), Scope.ALL);
    assertThat(runWaiting()).isEqualTo(4);
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
    assertThat(counted(new Scope(Set.of("a")))).isEqualTo(4);
  }

  @Test
  void aLevelIsValidForTwentyTimesItsCountingTime() {
    lookNanos = Duration.ofMillis(50).toNanos();
    assertThat(counted(Scope.ALL)).isEqualTo(4);
    lookNanos = 0;
    // The four were counted one after the other, for 50 ms each, 50 ms apart.
    nanos += Duration.ofMillis(600).toNanos();
    assertThat(counted(Scope.ALL)).isZero();
    nanos += Duration.ofMillis(400).toNanos();
    assertThat(counted(Scope.ALL)).isEqualTo(4);
    nanos += Duration.ofMillis(99).toNanos();
    assertThat(counted(Scope.ALL)).isZero();
    nanos += Duration.ofMillis(1).toNanos();
    assertThat(counted(Scope.ALL)).isEqualTo(4);
  }

  @Test
  void aFailedCountIsRepeated() {
    scheduler.close();
    var failed = wheel.answer(reads(scheduler), Scope.ALL);
    runWaiting();
    assertThatThrownBy(failed::join).isInstanceOf(CompletionException.class);
    assertThat(counted(Scope.ALL)).isEqualTo(4);
  }
}
