// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.timewheel.durable.internal.time.Cron;
import io.timewheel.durable.model.FireId;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.model.TypedHandler;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Verifies that an error names its invalid argument, and that nothing was changed. */
@Tag("promise-49")
class BadInputTest {
  private static final Instant NOW = DurableTestkit.START;
  private static final TimerKey KEY = new TimerKey("ns", "a");
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Handler HANDLER = firing -> {};
  private static final TypedHandler<String> TYPED = (firing, payload) -> {};

  private final DurableTestkit kit = DurableTestkit.create();
  private final InMemoryTimerStore store = InMemoryTimerStore.create();
  private final DurableTimer scheduler = kit.start(store, builder -> builder.handler("h", HANDLER));
  private final FireId fireId = new FireId(KEY, 1, 0);

  private static DynamicTest bad(String message, ThrowingCallable call) {
    return dynamicTest(
        message,
        () ->
            assertThatThrownBy(call)
                .isInstanceOfAny(IllegalArgumentException.class, NullPointerException.class)
                .hasMessageContaining(message));
  }

  private static TimerSpec spec() {
    return TimerSpec.of("ns", "a").handler("h");
  }

  private static DurableTimerBuilder builder() {
    return DurableTimer.builder(InMemoryTimerStore.create());
  }

  @TestFactory
  Stream<DynamicTest> specs() {
    Map<String, String> nullHeader = new HashMap<>();
    nullHeader.put("a", null);
    return Stream.of(
        bad("namespace", () -> TimerSpec.of(null, "a")),
        bad("namespace: 0 bytes", () -> TimerSpec.of("", "a")),
        bad("id", () -> TimerSpec.of("ns", null)),
        bad("id: 257 bytes", () -> TimerSpec.of("ns", "x".repeat(257))),
        bad("id: 258 bytes", () -> TimerSpec.of("ns", "ü".repeat(129))),
        bad("id: character U+0000", () -> TimerSpec.of("ns", "a\0")),
        bad("id: character U+D800", () -> TimerSpec.of("ns", "a\ud800")),
        bad("handler: 0 bytes", () -> spec().handler("")),
        bad("queue", () -> spec().queue(null)),
        bad("delay", () -> spec().after(null)),
        bad("time", () -> spec().at(null)),
        bad("period", () -> spec().every(null)),
        bad("period: PT-1S", () -> spec().every(Duration.ofSeconds(-1))),
        bad("period: PT0.099S", () -> spec().every(Duration.ofMillis(99))),
        bad("delay: PT0S", () -> spec().fixedDelay(Duration.ZERO)),
        bad("cron", () -> spec().cron(null, ZoneOffset.UTC)),
        bad("zone", () -> spec().cron("0 9 * * *", null)),
        bad("30 2", () -> spec().cron("0 0 30 2 *", ZoneOffset.UTC)),
        bad("minute", () -> spec().cron("60 9 * * *", ZoneOffset.UTC)),
        bad("payload", () -> spec().payload((byte[]) null)),
        bad("payload: 65537 bytes", () -> spec().payload(new byte[65_537])),
        bad("object", () -> spec().payload((Object) null)),
        bad("headers", () -> spec().headers(null)),
        bad("header value", () -> spec().headers(nullHeader)),
        bad("header: 0 bytes", () -> spec().headers(Map.of("", "x"))),
        bad("headers: 8193 bytes", () -> spec().headers(Map.of("a", "x".repeat(8_192)))),
        bad("policy", () -> spec().retry(null)),
        bad("rule", () -> spec().missed(null)),
        bad("lag", () -> spec().grace(null)),
        bad("grace: PT-1S", () -> spec().grace(Duration.ofSeconds(-1))),
        bad("version: 0", () -> spec().onlyIfVersion(0)),
        bad("requestId: 0 bytes", () -> spec().requestId("")),
        bad("maxAttempts: 0", () -> new RetryPolicy(0, SECOND, SECOND)),
        bad("maxAttempts: 1001", () -> new RetryPolicy(1_001, SECOND, SECOND)),
        bad("backoff: PT0.009S", () -> new RetryPolicy(1, Duration.ofMillis(9), SECOND)),
        bad("maxBackoff: PT1S", () -> new RetryPolicy(1, Duration.ofSeconds(2), SECOND)),
        bad("backoff", () -> new RetryPolicy(1, null, SECOND)));
  }

  @TestFactory
  Stream<DynamicTest> schedules() {
    Instant farthest = Instant.MAX;
    return Stream.of(
        bad("spec", () -> scheduler.schedule(null)),
        bad("spec", () -> scheduler.scheduleAll(Arrays.asList(spec().at(NOW), null))),
        bad("no target", () -> scheduler.schedule(TimerSpec.of("ns", "a").at(NOW))),
        bad("no time", () -> scheduler.schedule(spec())),
        bad(
            "after PT1S, and at 2026-01-01",
            () -> scheduler.schedule(spec().at(NOW).after(SECOND))),
        bad(
            "after PT1S, and every PT1S",
            () -> scheduler.schedule(spec().every(SECOND).after(SECOND))),
        bad("every PT1S, and cron", () -> spec().every(SECOND).cron("@daily", ZoneOffset.UTC)),
        bad("every PT1S, and delay", () -> spec().every(SECOND).fixedDelay(SECOND)),
        bad("handler h and queue q", () -> scheduler.schedule(spec().queue("q").at(NOW))),
        bad("missed SKIP", () -> scheduler.schedule(spec().at(NOW).missed(MissedRuns.SKIP))),
        bad("a time beyond the year", () -> scheduler.schedule(spec().at(farthest))),
        bad("a time beyond the year", () -> scheduler.schedule(spec().after(EVER))),
        bad("count: 0", () -> scheduler.preview(spec().at(NOW), 0)),
        bad("count: 1001", () -> scheduler.preview(spec().at(NOW), 1_001)),
        bad("spec", () -> scheduler.preview(null, 1)));
  }

  private static final Duration EVER = Duration.ofSeconds(Long.MAX_VALUE);

  @TestFactory
  Stream<DynamicTest> calls() {
    return Stream.of(
        bad("id", () -> scheduler.timer("ns", null).cancel()),
        bad("key", () -> scheduler.timer(null).ifVersion(1).cancel()),
        bad("version: -1", () -> scheduler.timer(KEY).ifVersion(-1).cancel()),
        bad("namespace: 0 bytes", () -> scheduler.timer(new TimerKey("", "a")).cancel()),
        bad("key", () -> scheduler.timers(Arrays.asList(KEY, null)).cancel()),
        bad("namespace: 0 bytes", () -> scheduler.timer("", "a").pause()),
        bad("namespace: 0 bytes", () -> scheduler.namespace("").pause()),
        bad("namespace", () -> scheduler.namespace((String) null).resume()),
        bad("version: -1", () -> scheduler.async().timer(KEY).ifVersion(-1).runNow()),
        bad("at", () -> scheduler.timer(KEY).move(null)),
        bad("at: +1000000000", () -> scheduler.timer(KEY).move(Instant.MAX)),
        bad("id", () -> scheduler.timer("ns", null).get()),
        bad("filter", () -> scheduler.timers((TimerFilter) null).list(1, null)),
        bad("pageSize: 0", () -> scheduler.timers(TimerFilter.all()).list(0, null)),
        bad("pageSize: 10001", () -> scheduler.timers(TimerFilter.all()).list(10_001, null)),
        bad("page: %%", () -> scheduler.timers(TimerFilter.all()).list(1, "%%")),
        bad("page: ", () -> scheduler.timers(TimerFilter.all()).list(1, "")),
        bad("namespace", () -> TimerFilter.all().namespace(null)),
        bad("namespace: 0 bytes", () -> TimerFilter.all().namespace("")),
        bad("prefix", () -> TimerFilter.all().prefix(null)),
        bad("states", () -> TimerFilter.all().states(null)),
        bad("states", () -> TimerFilter.all().states(Set.<TimerState>of())),
        bad("from", () -> TimerFilter.all().dueBetween(null, NOW)),
        bad("to", () -> TimerFilter.all().dueBetween(NOW, null)),
        bad("to: " + NOW, () -> TimerFilter.all().dueBetween(NOW.plusMillis(1), NOW)),
        bad("handler", () -> TimerFilter.all().handler(null)),
        bad("from", () -> scheduler.allNamespaces().histogram(null, NOW, 1)),
        bad("buckets: 0", () -> scheduler.allNamespaces().histogram(NOW, NOW.plusSeconds(1), 0)),
        bad("to: " + NOW, () -> scheduler.allNamespaces().histogram(NOW, NOW, 1)),
        bad("buckets: 0", () -> scheduler.allNamespaces().histogram(List.of(NOW))),
        bad("bounds: " + NOW, () -> scheduler.allNamespaces().histogram(List.of(NOW, NOW))),
        bad(
            "namespace: 0 bytes",
            () -> scheduler.namespace("").histogram(NOW, NOW.plusSeconds(1), 1)),
        bad("queue", () -> scheduler.async().queue("ns", null).claim(1, SECOND, SECOND)),
        bad("max: 0", () -> scheduler.async().queue("ns", "q").claim(0, SECOND, SECOND)),
        bad(
            "lease: PT0.999S",
            () -> scheduler.async().queue("ns", "q").claim(1, Duration.ofMillis(999), SECOND)),
        bad(
            "lease: PT12H1S",
            () -> scheduler.async().queue("ns", "q").claim(1, Duration.ofSeconds(43_201), SECOND)),
        bad(
            "wait: PT-1S",
            () -> scheduler.async().queue("ns", "q").claim(1, SECOND, Duration.ofSeconds(-1))),
        bad(
            "wait: PT1M1S",
            () -> scheduler.async().queue("ns", "q").claim(1, SECOND, Duration.ofSeconds(61))),
        bad("fireId", () -> scheduler.async().changeLease(LeaseChange.ack(null, "x"))),
        bad("leaseToken", () -> scheduler.async().changeLease(LeaseChange.ack(fireId, null))),
        bad("leaseToken: ", () -> scheduler.async().changeLease(LeaseChange.ack(fireId, "x"))),
        bad(
            "error",
            () -> scheduler.async().changeLease(LeaseChange.nack(fireId, "x", null, null))),
        bad(
            "after: PT-1S",
            () ->
                scheduler
                    .async()
                    .changeLease(LeaseChange.nack(fireId, "x", "e", Duration.ofSeconds(-1)))),
        bad(
            "not forever",
            () ->
                scheduler
                    .async()
                    .changeLease(
                        LeaseChange.nack(
                            fireId, "0".repeat(32), "e", ChronoUnit.FOREVER.getDuration()))),
        bad("by", () -> scheduler.async().changeLease(LeaseChange.extend(fireId, "x", null))),
        bad(
            "by: PT0S",
            () -> scheduler.async().changeLease(LeaseChange.extend(fireId, "x", Duration.ZERO))),
        bad("shutdownTimeout", () -> scheduler.close(null)),
        bad("bucket: -1", () -> scheduler.stats().lag().countWithin(-1)),
        bad(
            "bucket: " + (LagHistogram.bounds().size() + 1),
            () -> scheduler.stats().lag().countWithin(LagHistogram.bounds().size() + 1)),
        bad("percent: 0.0", () -> scheduler.stats().lag().percentile(0)),
        bad("percent: NaN", () -> scheduler.stats().lag().percentile(Double.NaN)),
        bad("fields", () -> Cron.parse("* * *")));
  }

  @TestFactory
  Stream<DynamicTest> settings() {
    return Stream.of(
        bad("store", () -> DurableTimer.builder(null)),
        bad("handler: 0 bytes", () -> builder().handler("", HANDLER)),
        bad("handler", () -> builder().handler("h", null)),
        bad("handler: h", () -> builder().handler("h", HANDLER).handler("h", HANDLER)),
        bad("limit: 0", () -> builder().handler("h", HANDLER, 0, null)),
        bad("total: 0", () -> HandlerSlots.atMost(0)),
        bad(
            "each prefix once",
            () ->
                builder()
                    .handlers("h", HANDLER, 1, HandlerSlots.atMost(1), null)
                    .handlers("h", HANDLER, 1, HandlerSlots.atMost(1), null)),
        bad("timeLimit: PT0S", () -> builder().handler("h", HANDLER, 1, Duration.ZERO)),
        bad("type", () -> builder().handler("h", null, (firing, payload) -> {})),
        bad(
            "handler: h for payloads of class",
            () -> builder().handler("h", String.class, TYPED).start()),
        bad("no codec", () -> scheduler.schedule(spec().after(SECOND).payload("text"))),
        bad("handler", () -> builder().finishingHandler("h", null, 1)),
        bad("codec", () -> builder().codec(null)),
        bad("timer", () -> builder().timer(null)),
        bad("clock", () -> builder().clock(null)),
        bad("executor", () -> builder().storeExecutor(null)),
        bad("executor", () -> builder().handlerExecutor(null)),
        bad("numbers", () -> builder().random(null)),
        bad("capacity: 0", () -> builder().queueCapacity(0, false)),
        bad("perSecond: 0", () -> builder().overdueRate(0)),
        bad("entries: 0", () -> builder().maxWindow(0)),
        bad("timers: 0", () -> builder().maxPendingPerNamespace(0)),
        bad("time", () -> builder().retain(null, 1)),
        bad("retain: PT-1S", () -> builder().retain(Duration.ofSeconds(-1), 1)),
        bad("retain: PT1S, -1", () -> builder().retain(SECOND, -1)));
  }

  @Test
  void aBatchWithOneInvalidItemAppliesTheOthers() {
    List<TimerSpec> specs = List.of(spec().at(NOW.plusSeconds(9)), TimerSpec.of("ns", "b"));
    var results = scheduler.scheduleAll(specs);
    assertThat(results.get(0).error()).isNull();
    assertThat(results.get(1).error()).hasMessageContaining("ns/b: no target");
    assertThat(scheduler.counts().get("ns")).containsOnly(Map.entry(TimerState.SCHEDULED, 1L));
  }
}
