// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.List;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Verifies the warnings at the start about timers that no live node can run. */
class UnknownHandlersTest {
  private static final Duration LEASE = Duration.ofSeconds(10);

  @RegisterExtension private final LogLines log = new LogLines(Level.WARNING);

  private final DurableTestkit kit = DurableTestkit.create();

  private static TimerSpec spec(String id) {
    return TimerSpec.of("ns", id).after(Duration.ofHours(1));
  }

  private List<String> warnings() {
    return log.lines().stream().filter(line -> line.contains("no live node knows")).toList();
  }

  @Test
  void oneWarningListsUnknownHandlersWithTheirTimers() {
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer before = kit.start(data, builder -> builder.handler("gone", firing -> {}));
    before.schedule(spec("a").handler("gone"));
    before.schedule(spec("b").handler("gone"));
    before.schedule(spec("c").handler("mail/x"));
    before.schedule(spec("d").queue("consumers"));
    before.schedule(spec("e").handler("other"));
    before.timer("ns", "e").cancel();
    kit.close(before);
    kit.start(
        data.reopen(),
        builder -> builder.handlers("mail/", firing -> {}, 1, HandlerSlots.atMost(1), null));
    assertThat(warnings())
        .singleElement()
        .satisfies(line -> assertThat(line).contains("\"gone\" (2)").doesNotContain("mail", "cons"))
        .satisfies(line -> assertThat(line).doesNotContain("other"));
  }

  @Test
  void listsTenHandlersAtMost() {
    InMemoryTimerStore data = InMemoryTimerStore.create();
    DurableTimer before = kit.start(data, builder -> {});
    for (int i = 10; i < 25; i++) {
      before.schedule(spec("id-" + i).handler("h" + i));
    }
    before.schedule(spec("id").handler("h24"));
    kit.close(before);
    kit.start(data.reopen(), builder -> {});
    assertThat(warnings())
        .singleElement()
        .satisfies(line -> assertThat(line).contains("\"h24\" (2), \"h10\" (1)"))
        .satisfies(line -> assertThat(line).contains("and timers of 5 more handlers"));
  }

  @Test
  void nodesThatStartTogetherSeeEachOther() {
    InMemoryTimerStore data =
        InMemoryTimerStore.create(
            new StoreTraits(
                1, 1, 100, Duration.ofMinutes(1), Duration.ZERO, Duration.ofMillis(500), LEASE));
    DurableTimer client = kit.start(DurableTimer.client(data.join()), builder -> {});
    client.schedule(spec("a").handler("late"));
    client.schedule(spec("b").handler("never"));
    kit.start(data.join(), builder -> builder.handler("early", firing -> {}));
    kit.advanceBy(Duration.ofSeconds(5));
    kit.start(data.join(), builder -> builder.handler("late", firing -> {}));
    kit.advanceBy(LEASE);
    assertThat(warnings())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).contains("\"never\" (1)").doesNotContain("late"));
  }
}
