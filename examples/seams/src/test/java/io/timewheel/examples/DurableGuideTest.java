// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.CancelResult.Outcome;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.HandlerSlots;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.testkit.DurableTestkit;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** The code in docs/concepts.md and docs/guides; DocumentationTest compares the two. */
class DurableGuideTest {
  private final List<String> cancelled = new ArrayList<>();
  private final Shop shop = new Shop();
  private final Path directory;

  DurableGuideTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private final class Shop {
    boolean open;

    void cancel(String id) {
      if (!open) {
        throw new IllegalStateException("the shop is closed");
      }
      cancelled.add(id);
    }
  }

  // begin
  record OrderRef(String id) {}

  static final class JsonCodec implements PayloadCodec {
    private final ObjectMapper mapper = JsonMapper.builder().build();

    @Override
    public byte[] encode(Object payload) {
      return mapper.writeValueAsBytes(payload);
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      return mapper.readValue(payload, type);
    }
  }

  // end

  @Test
  void typedHandlersRunOnADirectory() throws Exception {
    CompletableFuture<String> fired = new CompletableFuture<>();
    // begin
    DurableTimer scheduler =
        DurableTimer.builder(RocksTimerStore.open(directory))
            .codec(new JsonCodec())
            .handler("orders.cancel", OrderRef.class, (firing, order) -> fired.complete(order.id()))
            .start();
    scheduler.schedule(
        TimerSpec.of("shop", "order-42")
            .after(Duration.ofMillis(10))
            .payload(new OrderRef("42"))
            .handler("orders.cancel"));
    // end
    assertThat(fired.get()).isEqualTo("42");
    scheduler.close();
  }

  @Test
  void aHandlerThatWaitsForAnotherMachineHoldsNoThread() throws Exception {
    CompletableFuture<Integer> answered = new CompletableFuture<>();
    HttpServer host =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    host.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(204, -1);
          exchange.close();
        });
    host.start();
    InMemoryTimerStore store = InMemoryTimerStore.create();
    // begin
    HttpClient http = HttpClient.newHttpClient();
    AsyncHandler post =
        firing ->
            http.sendAsync(request(firing), BodyHandlers.discarding())
                .thenAccept(answer -> answered.complete(answer.statusCode()));
    DurableTimer caller =
        DurableTimer.builder(store)
            // 8 concurrent attempts for each host and 1,000 in total, each within 10 seconds
            .handlers("host:", post, 8, HandlerSlots.atMost(1_000), Duration.ofSeconds(10))
            .start();
    // end
    caller.schedule(
        TimerSpec.of("shop", "order-42")
            .after(Duration.ofMillis(10))
            .handler("host:127.0.0.1:" + host.getAddress().getPort()));
    assertThat(answered.get()).isEqualTo(204);
    caller.close();
    host.stop(0);
  }

  private static HttpRequest request(Firing firing) {
    String host = firing.handler().substring("host:".length());
    return HttpRequest.newBuilder(URI.create("http://" + host + "/")).build();
  }

  @Test
  void failedTimersAreFoundAndRetried() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler = start(kit);
    // begin
    scheduler.schedule(
        TimerSpec.of("shop", "order-42")
            .after(Duration.ofMinutes(30))
            .retry(new RetryPolicy(3, Duration.ofSeconds(1), Duration.ofMinutes(1)))
            .handler("orders.cancel"));
    // end
    kit.advanceBy(Duration.ofHours(1));
    List<String> errors = new ArrayList<>();
    // begin
    TimerFilter filter = TimerFilter.all().namespace("shop").states(EnumSet.of(TimerState.FAILED));
    Optional<String> page = Optional.empty();
    do {
      TimerList found = scheduler.timers(filter).list(1_000, page.orElse(null));
      for (TimerInfo one : found.timers()) {
        errors.add(one.key().id() + ": " + one.lastError().orElse(""));
      }
      page = found.nextPage();
    } while (page.isPresent());

    scheduler.timer("shop", "order-42").retry(); // its attempts are counted from zero again
    // end
    assertThat(errors)
        .containsExactly("order-42: java.lang.IllegalStateException: the shop is closed");
    shop.open = true;
    kit.settle();
    assertThat(cancelled).containsExactly("order-42");
  }

  @Test
  void countsTimersByTheirDueTimes() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler = start(kit);
    // begin
    TimerSpec report =
        TimerSpec.of("shop", "report")
            .cron("0 9 * * MON-FRI", ZoneId.of("Europe/Berlin"))
            .handler("report");
    List<Instant> firstRuns = scheduler.preview(report, 5);
    scheduler.schedule(report);

    Instant now = scheduler.now();
    long[] dueByHour = scheduler.namespace("shop").histogram(now, now.plus(Duration.ofDays(1)), 24);
    // end
    assertThat(firstRuns).hasSize(5).startsWith(Instant.parse("2026-01-01T08:00:00Z"));
    assertThat(dueByHour[8]).isEqualTo(1);
  }

  @Test
  void returnsWhetherACallTookEffect() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler = start(kit);
    TimerSpec spec =
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).handler("orders.cancel");
    // begin
    CompletionStage<Boolean> paid =
        scheduler
            .async()
            .schedule(spec.requestId("checkout-4711")) // repeated calls return the same
            .thenCompose(scheduled -> scheduler.async().timer("shop", "order-42").cancel())
            .thenApply(answer -> answer.outcome() == Outcome.CANCELLED);
    // end
    kit.settle();
    assertThat(paid.toCompletableFuture()).isCompletedWithValue(true);
  }

  // begin
  @Test
  void anOrderThatIsNotPaidIsCancelled() {
    DurableTestkit kit = DurableTestkit.create(); // no threads; only the test advances the clock
    DurableTimer scheduler =
        kit.start(
            InMemoryTimerStore.create(),
            builder -> builder.handler("orders.cancel", firing -> cancelled.add(firing.id())));

    scheduler.schedule(
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).handler("orders.cancel"));
    kit.advanceBy(Duration.ofMinutes(29));
    assertThat(cancelled).isEmpty();
    kit.advanceBy(Duration.ofMinutes(1));
    assertThat(cancelled).containsExactly("order-42");
    assertThat(scheduler.stats().failed()).isZero();
  }

  // end

  @Test
  void aTestSeesThatAHandlerHasThrown() {
    DurableTestkit kit = DurableTestkit.create();
    DurableTimer scheduler = start(kit); // the shop is closed

    scheduler.schedule(
        TimerSpec.of("shop", "order-42").after(Duration.ofMinutes(30)).handler("orders.cancel"));
    kit.advanceBy(Duration.ofMinutes(30));

    assertThat(scheduler.stats().failed()).isEqualTo(1);
    assertThat(scheduler.timer("shop", "order-42").get().orElseThrow().lastError().orElseThrow())
        .contains("the shop is closed");
  }

  private DurableTimer start(DurableTestkit kit) {
    return kit.start(
        InMemoryTimerStore.create(),
        builder -> builder.handler("orders.cancel", firing -> shop.cancel(firing.id())));
  }
}
