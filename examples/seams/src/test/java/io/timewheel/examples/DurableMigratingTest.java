// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static io.timewheel.durable.model.CancelResult.Outcome.CANCELLED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Verifies the code and the statements about durable timers in docs/migrate/durable.md,
 * docs/migrate/queues.md and README.md. DocumentationTest compares the code.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the result is visible in the timer
class DurableMigratingTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final DurableTestkit kit = DurableTestkit.create();
  private final List<String> said = new ArrayList<>();
  private final Orders orders = new Orders();
  private final List<FireId> attempts = new ArrayList<>();

  record Order(String id) {}

  private final class Orders {
    void cancel(String id) {
      said.add("cancelled " + id);
    }

    void markPaid(Order order) {
      said.add("paid " + order.id());
    }
  }

  // README

  @Test
  void anOrderIsCancelledUnlessItIsPaid(@TempDir Path directory) {
    Order order = new Order("order-42");
    // begin
    DurableTimer scheduler =
        DurableTimer.builder(RocksTimerStore.open(directory))
            .handler("orders.cancel", firing -> orders.cancel(firing.id()))
            .start();

    scheduler.schedule(
        TimerSpec.of("shop", order.id())
            .after(Duration.ofMinutes(30))
            .handler("orders.cancel")); // on disk when this returns

    if (scheduler.timer("shop", order.id()).cancel().outcome() == CANCELLED) {
      orders.markPaid(order); // in time: no further attempt begins; the same if asked again
    }
    // end
    scheduler.close();
    assertThat(said).containsExactly("paid order-42");
  }

  // Quartz

  @Test
  void aReportOnWorkdays() {
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("report", firing -> said.add("" + firing.scheduledAt())));

    scheduler.schedule(
        TimerSpec.of("reports", "berlin")
            .cron("0 0 9 ? * MON-FRI", ZoneId.of("Europe/Berlin"))
            .missed(MissedRuns.SKIP)
            .grace(Duration.ofMinutes(5))
            .handler("report"));

    kit.runUntil(Instant.parse("2026-01-01T08:00:00Z")); // a Thursday, 9 o'clock in Berlin
    assertThat(said).containsExactly("2026-01-01T08:00:00Z");
    assertThat(scheduler.timer("reports", "berlin").get().orElseThrow().dueAt())
        .isEqualTo(Instant.parse("2026-01-02T08:00:00Z"));
  }

  @Test
  void exhaustedTimersFailAndAreRetried() {
    boolean[] works = new boolean[1];
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder ->
                builder.handler(
                    "report",
                    firing -> {
                      attempts.add(firing.fireId());
                      if (!works[0]) {
                        throw new IllegalStateException("no report");
                      }
                    }));
    scheduler.schedule(
        TimerSpec.of("reports", "once")
            .after(Duration.ofMinutes(30))
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofMinutes(1)))
            .handler("report"));
    kit.advanceBy(LONG);
    assertThat(attempts).hasSize(3).containsOnly(attempts.get(0));

    List<TimerInfo> failed =
        scheduler
            .timers(TimerFilter.all().states(EnumSet.of(TimerState.FAILED)))
            .list(100, null)
            .timers();
    assertThat(failed).hasSize(1);
    assertThat(failed.get(0).attempts()).hasSize(3);

    works[0] = true;
    scheduler.timer("reports", "once").retry();
    kit.settle();
    assertThat(scheduler.timer("reports", "once").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }

  // db-scheduler

  @Test
  void schedulesOnceMovesAndReplaces() {
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("orders.cancel", firing -> said.add("ran")));
    TimerSpec spec =
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).handler("orders.cancel");
    ScheduleResult first = scheduler.schedule(spec);

    assertThatThrownBy(() -> scheduler.schedule(spec.onlyIfAbsent()))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.EXISTS));
    assertThat(scheduler.timer(new TimerKey("shop", "order-42")).move(kit.now().plus(LONG)))
        .isEqualTo(VerbResult.DONE);
    assertThatThrownBy(() -> scheduler.schedule(spec.onlyIfVersion(first.version())))
        .isInstanceOfSatisfying(
            DurableTimerException.class,
            e -> assertThat(e.reason()).isEqualTo(DurableTimerException.Reason.VERSION_DIFFERS));

    kit.advanceBy(LONG);
    assertThat(said).containsExactly("ran");
    assertThat(scheduler.timer("shop", "order-42").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.COMPLETED);
    assertThat(scheduler.timer("shop", "order-43").cancel().outcome())
        .isEqualTo(CancelResult.Outcome.NOT_FOUND);
  }

  @Test
  void aRecurringTimerThatIsThereIsLeftAlone() {
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("clean", firing -> said.add("ran")));
    TimerSpec spec = TimerSpec.of("jobs", "clean").fixedDelay(Duration.ofHours(1)).handler("clean");
    scheduler.schedule(spec);
    kit.advanceBy(Duration.ofMinutes(59));

    assertThat(scheduler.schedule(spec).outcome()).isEqualTo(ScheduleResult.Outcome.UNCHANGED);
    kit.advanceBy(Duration.ofMinutes(1));
    assertThat(said).containsExactly("ran");
  }

  @Test
  void typedPayloads() {
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder ->
                builder
                    .codec(new OrderCodec())
                    .handler("orders.cancel", Order.class, (firing, o) -> orders.cancel(o.id())));
    Instant time = kit.now().plus(Duration.ofMinutes(30));

    scheduler.schedule(
        TimerSpec.of("shop", "order-42")
            .at(time)
            .payload(new Order("42"))
            .handler("orders.cancel"));

    kit.advanceBy(LONG);
    assertThat(said).containsExactly("cancelled 42");
  }

  private static final class OrderCodec implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      return ((Order) payload).id().getBytes(UTF_8);
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      return type.cast(new Order(new String(payload, UTF_8)));
    }
  }

  @Test
  void timersWithoutAHandlerAreBlockedUntilOneIsAdded() {
    InMemoryTimerStore store = InMemoryTimerStore.create();
    DurableTimer old = kit.start(store, builder -> {});
    old.schedule(TimerSpec.of("shop", "a").after(Duration.ZERO).handler("new"));
    kit.advanceBy(LONG);
    assertThat(old.timer("shop", "a").get().orElseThrow().state()).isEqualTo(TimerState.BLOCKED);
    kit.kill(old);

    kit.start(store.reopen(), builder -> builder.handler("new", firing -> said.add("ran")));
    kit.settle();
    assertThat(said).containsExactly("ran");
  }

  // Redisson's delayed queue

  @Test
  void consumersClaimAndAcknowledge() {
    DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});
    scheduler.schedule(
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).queue("unpaid"));
    kit.advanceBy(LONG);

    var queue = scheduler.queue("shop", "unpaid");
    for (QueueFiring order : queue.claim(10, Duration.ofSeconds(30), Duration.ofSeconds(20))) {
      orders.cancel(order.firing().id());
      queue.ack(order);
    }

    kit.settle();
    assertThat(said).containsExactly("cancelled order-42");
    assertThat(scheduler.timer("shop", "order-42").get().orElseThrow().state())
        .isEqualTo(TimerState.COMPLETED);
  }

  @Test
  void aConsumerThatDiesLosesNothing() {
    DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});
    scheduler.schedule(
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).queue("unpaid"));
    kit.advanceBy(LONG);
    for (int i = 0; i < 2; i++) {
      scheduler
          .async()
          .queue("shop", "unpaid")
          .claim(10, Duration.ofSeconds(30), Duration.ZERO)
          .thenAccept(due -> due.forEach(claimed -> attempts.add(claimed.firing().fireId())));
      kit.advanceBy(Duration.ofMinutes(1)); // and does not acknowledge
    }
    assertThat(attempts).hasSize(2).containsOnly(attempts.get(0));
  }

  // RocketMQ

  @Test
  void limitsOfPayloadAndDelay() {
    DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});

    scheduler.schedule(TimerSpec.of("a", "b").after(Duration.ofDays(36_500)).handler("h"));
    assertThatThrownBy(() -> TimerSpec.of("a", "b").payload(new byte[64 * 1024 + 1]))
        .hasMessage("payload: 65537 bytes (expected: at most 65536)");
  }
}
