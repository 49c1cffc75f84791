// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Verifies that the handler of a timer is checked when the timer is scheduled, not when it is due.
 */
@Tag("promise-43")
class HandlerCheckTest {
  private static final StoreTraits SHARED =
      new StoreTraits(
          1,
          1,
          100,
          Duration.ofMinutes(1),
          Duration.ZERO,
          Duration.ofMillis(500),
          Duration.ofSeconds(10));

  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);
  private final DurableTestkit kit = DurableTestkit.create();

  private static void settings(DurableTimerBuilder builder) {
    builder
        .handler("h", firing -> {})
        .handlers("host:", firing -> {}, 1, HandlerSlots.atMost(1), null);
  }

  private DurableTimer strict() {
    return kit.start(
        InMemoryTimerStore.create(),
        builder -> {
          settings(builder);
          builder.strictHandlers(true);
        });
  }

  private static TimerSpec spec(String handler) {
    return TimerSpec.of("ns", "for-" + handler).handler(handler).after(Duration.ofMinutes(30));
  }

  @Test
  void warnsOnceForEachUnknownHandler() {
    DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), HandlerCheckTest::settings);
    scheduler.schedule(spec("h"));
    scheduler.schedule(spec("host:example.org"));
    scheduler.schedule(TimerSpec.of("ns", "q").queue("typo").after(Duration.ZERO));
    assertThat(log.lines()).isEmpty();
    for (int i = 0; i < 3; i++) {
      scheduler.schedule(spec("typo"));
      scheduler.scheduleAll(List.of(spec("typo"), spec("other")));
    }
    assertThat(log.lines()).hasSize(2);
    assertThat(log.lines().get(0)).contains("ns/for-typo", "\"typo\"", "no live node has");
    assertThat(log.lines().get(1)).contains("\"other\"");
    scheduler.preview(spec("third"), 1);
    assertThat(log.lines()).hasSize(2);
  }

  @Test
  void warnsOfAThousandHandlersAtMost() {
    DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), HandlerCheckTest::settings);
    for (int i = 0; i < 1_100; i++) {
      scheduler.schedule(spec("typo" + i));
    }
    assertThat(log.lines()).hasSize(1_000);
  }

  @Test
  void refusesUnknownHandlersInTheStrictMode() {
    DurableTimer scheduler = strict();
    scheduler.schedule(spec("h"));
    scheduler.schedule(spec("host:example.org"));
    assertThatThrownBy(() -> scheduler.schedule(spec("typo")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ns/for-typo: no live node has the handler \"typo\" (expected: ");
    var results = scheduler.scheduleAll(List.of(spec("typo"), spec("h")));
    assertThat(results.get(0).error()).isNotNull();
    assertThat(results.get(1).error()).isNull();
    assertThat(scheduler.timer("ns", "for-typo").get()).isEmpty();
    assertThat(log.lines()).isEmpty();
  }

  @Test
  void checksNothingBeforeTheStart() {
    DurableTimerBuilder builder =
        DurableTimer.builder(InMemoryTimerStore.create()).strictHandlers(true);
    try (DurableTimer scheduler = builder.build()) {
      scheduler.schedule(spec("added"));
      builder.handler("added", firing -> {});
      scheduler.start();
      scheduler.schedule(spec("added"));
      assertThatThrownBy(() -> scheduler.schedule(spec("typo")))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aHandlerOfAnyLiveNodeIsFound() {
    InMemoryTimerStore data = InMemoryTimerStore.create(SHARED);
    DurableTimer first =
        kit.start(data.join(), builder -> builder.handler("a", f -> {}).strictHandlers(true));
    assertThatThrownBy(() -> first.schedule(spec("b")))
        .isInstanceOf(IllegalArgumentException.class);
    DurableTimer second = kit.start(data.join(), builder -> builder.handler("b", f -> {}));
    first.schedule(spec("b"));
    second.schedule(spec("a"));
    assertThat(log.lines()).isEmpty();
    kit.close(second);
    assertThatThrownBy(() -> first.schedule(spec("b")))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
