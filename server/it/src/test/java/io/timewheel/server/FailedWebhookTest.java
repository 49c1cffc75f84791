// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.standardwebhooks.Webhook;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.Receiver.Call;
import io.timewheel.server.failure.FailureEvents;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.WebhookClient;
import io.timewheel.server.webhook.WebhookTarget;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import tools.jackson.databind.JsonNode;

/**
 * Tests events about failed timers. Only this class verifies that each failure is posted once, also
 * after a restart.
 */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class FailedWebhookTest {
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1));

  @TempDir private Path directory;

  private final Receiver receiver = new Receiver();
  private InMemoryTimerStore store = InMemoryTimerStore.create();
  private WebhookClient client;

  @BeforeEach
  void start() {
    client =
        WebhookClient.start(
            AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"))),
            Running.secrets(directory, "ops"),
            InstantSource.system());
  }

  @AfterEach
  void stop() {
    client.close();
    receiver.close();
  }

  /** A server's timer, with or without events. */
  private final class Program implements AutoCloseable {
    final FailureEvents events;
    final DurableTimer scheduler;

    Program(boolean withEvents) {
      this(withEvents, store);
    }

    Program(boolean withEvents, TimerStore store) {
      events =
          new FailureEvents(
              new WebhookTarget(
                  URI.create(receiver.url("/failed")), "ops", Map.of(), Duration.ofSeconds(10)),
              InstantSource.system());
      scheduler =
          DurableTimer.builder(withEvents ? events.watch(store) : store)
              .handler(
                  "h",
                  firing -> {
                    throw new IllegalStateException("no luck");
                  })
              .start();
      if (withEvents) {
        events.start(scheduler, client, false);
      }
    }

    void fail(String id) {
      scheduler.schedule(TimerSpec.of("ns", id).handler("h").retry(ONCE).after(Duration.ZERO));
    }

    void await(String namespace, TimerState state, int timers) {
      Await.until(
          () ->
              scheduler.counts().getOrDefault(namespace, Map.of()).getOrDefault(state, 0L)
                  >= timers);
    }

    void awaitPosted(int timers) {
      await(FailureEvents.NAMESPACE, TimerState.COMPLETED, timers);
    }

    @Override
    public void close() {
      events.close();
      scheduler.close();
    }
  }

  private static List<String> ids(Call call) {
    List<String> ids = new ArrayList<>();
    for (JsonNode each : Running.MAPPER.readTree(call.body()).at("/data/timers")) {
      ids.add(each.get("id").asString());
    }
    return ids;
  }

  @Test
  void aFailureIsPostedOnceAndSigned() throws Exception {
    try (Program program = new Program(true)) {
      program.fail("a");
      Call call = receiver.calls.take();
      program.awaitPosted(1);
      assertThat(call.path()).isEqualTo("/failed");
      new Webhook(WebhooksTest.SECRET).verify(call.body(), call.headers());
      JsonNode event = Running.MAPPER.readTree(call.body());
      assertThat(event.get("type").asString()).isEqualTo("timers.failed");
      checkDocument(event);
      JsonNode timer = event.at("/data/timers/0");
      assertThat(timer.get("namespace").asString()).isEqualTo("ns");
      assertThat(timer.get("id").asString()).isEqualTo("a");
      assertThat(timer.get("attempt").asInt()).isEqualTo(1);
      assertThat(timer.get("error").asString()).isEqualTo("no luck");
      assertThat(receiver.calls).isEmpty();
    }
  }

  /** A newer release may have written the event. */
  @Test
  void anUnreadableEventStopsNoOther() throws Exception {
    try (DurableTimer other = DurableTimer.builder(store).start()) {
      other.schedule(
          TimerSpec.of(FailureEvents.NAMESPACE, "odd")
              .queue("events")
              .payload("{\"x\":1}".getBytes(UTF_8))
              .retry(ONCE)
              .after(Duration.ZERO));
    }
    store = store.reopen();
    try (Program program = new Program(true)) {
      program.await(FailureEvents.NAMESPACE, TimerState.FAILED, 1);
      program.fail("a");
      assertThat(ids(receiver.calls.take())).containsExactly("a");
    }
  }

  private static void checkDocument(JsonNode event) throws IOException {
    try (InputStream in = TimewheelServer.class.getResourceAsStream("openapi.json")) {
      JsonNode document = Running.MAPPER.readTree(in);
      JsonNode body =
          document.at("/webhooks/timersFailed/post/requestBody/content/application~1json/schema");
      new Schemas(document).check(event, body, "timersFailed");
    }
  }

  @Test
  void manyFailuresAreFewEvents() throws Exception {
    try (Program program = new Program(true)) {
      for (int i = 0; i < 500; i++) {
        program.fail("t" + i);
      }
      program.awaitPosted(500);
      Set<String> posted = new HashSet<>();
      receiver.calls.forEach(call -> posted.addAll(ids(call)));
      assertThat(posted).hasSize(500);
      assertThat(receiver.calls.size()).isLessThan(50);
      assertThat(receiver.calls).allMatch(call -> ids(call).size() <= 100);
    }
  }

  @Test
  void failuresThatWaitSurviveTheProcess() throws Exception {
    receiver.answering = Receiver.status(500);
    try (Program program = new Program(true)) {
      program.fail("a");
      program.await(FailureEvents.NAMESPACE, TimerState.RETRYING, 1);
    }
    receiver.calls.clear();
    receiver.answering = Receiver.status(204);
    store = store.reopen();
    try (Program program = new Program(true)) {
      assertThat(ids(receiver.calls.take())).containsExactly("a");
      program.awaitPosted(1);
    }
  }

  @Test
  void aFailureThatWasNotRecordedIsFoundAtTheNextStartAndOnlyThen() throws Exception {
    try (Program program = new Program(false)) {
      program.fail("a");
      program.await("ns", TimerState.FAILED, 1);
    }
    for (int start = 0; start < 2; start++) {
      store = store.reopen();
      try (Program program = new Program(true)) {
        program.awaitPosted(1);
        program.fail("b" + start);
        program.awaitPosted(2 + start);
      }
    }
    List<String> posted = new ArrayList<>();
    receiver.calls.forEach(call -> posted.addAll(ids(call)));
    assertThat(posted).containsExactly("a", "b0", "b1");
  }

  @Test
  void anEventThatWasPurgedIsNotPostedAgain() throws Exception {
    try (Program program = new Program(true)) {
      program.fail("a");
      program.awaitPosted(1);
    }
    store = store.reopen();
    store.purge(TimerRecord.NEVER, 0, 1_000);
    try (Program program = new Program(true)) {
      program.fail("b");
      program.awaitPosted(1);
    }
    List<String> posted = new ArrayList<>();
    receiver.calls.forEach(call -> posted.addAll(ids(call)));
    assertThat(posted).containsExactly("a", "b");
  }

  @Test
  void anEventEndsWhileAScanWaitsForTheStore() {
    try (Program program = new Program(false)) {
      program.fail("a");
      program.fail("b");
      program.await("ns", TimerState.FAILED, 2);
    }
    CountDownLatch goOn = new CountDownLatch(1);
    TimerStore slow =
        new ForwardingTimerStore(store.reopen()) {
          @Override
          public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
            if (after != null) {
              try {
                goOn.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            }
            return super.page(query, after, 1);
          }
        };
    try (Program program = new Program(true, slow)) {
      program.awaitPosted(1);
      goOn.countDown();
      program.awaitPosted(2);
    }
  }

  @Test
  void aCloseWaitsForTheAnswerToAnOpenPost() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    receiver.answering =
        exchange -> {
          goOn.await();
          Receiver.status(204).answer(exchange);
        };
    try (Program program = new Program(true)) {
      program.fail("a");
      receiver.calls.take();
      Thread close = new Thread(() -> program.events.close(Duration.ofMinutes(1)));
      close.start();
      Await.until(() -> close.getState() == Thread.State.TIMED_WAITING);
      goOn.countDown();
      close.join();
      assertThat(program.scheduler.counts().get(FailureEvents.NAMESPACE))
          .containsEntry(TimerState.COMPLETED, 1L);
    }
  }

  @Test
  void aTimerThatFailsAgainIsPostedAgain() throws Exception {
    try (Program program = new Program(true)) {
      program.fail("a");
      program.awaitPosted(1);
      program.scheduler.timer("ns", "a").retry();
      program.awaitPosted(2);
      assertThat(receiver.calls).hasSize(2).allMatch(call -> ids(call).equals(List.of("a")));
    }
  }
}
