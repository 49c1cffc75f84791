// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.failure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.webhook.WebhookTarget;
import io.timewheel.testing.Await;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the queue between commits and the thread that stores their failures. */
@Timeout(120)
class FailureEventsTest {
  private static final RetryPolicy ONCE =
      new RetryPolicy(1, Duration.ofSeconds(1), Duration.ofSeconds(1));

  private static final WebhookTarget TARGET =
      new WebhookTarget(URI.create("http://127.0.0.1:1/"), "ops", Map.of(), Duration.ofSeconds(1));

  private final CountDownLatch scanned = new CountDownLatch(1);
  private final CountDownLatch reads = new CountDownLatch(1);
  private final CountDownLatch goOn = new CountDownLatch(1);
  private final AtomicBoolean fails = new AtomicBoolean(true);

  /** Holds the first read of a timer, and then fails it. */
  private final class OneFailure extends ForwardingTimerStore {
    OneFailure() {
      super(InMemoryTimerStore.create());
    }

    @Override
    public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
      TimerPage page = super.page(query, after, limit);
      scanned.countDown();
      return page;
    }

    @Override
    public @Nullable TimerRecord get(TimerKey key) {
      if (fails.getAndSet(false)) {
        reads.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        throw new StoreException(StoreException.Kind.UNAVAILABLE, "on purpose", null);
      }
      return super.get(key);
    }
  }

  @Test
  void failuresThatDoNotFitBackIntoTheQueueAreFoundByAScan() throws Exception {
    try (FailureEvents events = new FailureEvents(TARGET, InstantSource.system(), 1);
        DurableTimer scheduler =
            DurableTimer.builder(events.watch(new OneFailure()))
                .handler(
                    "h",
                    firing -> {
                      throw new IllegalStateException("no luck");
                    })
                .start()) {
      events.start(scheduler, null, false);
      scanned.await();
      fail(scheduler, "a");
      reads.await();
      fail(scheduler, "b");
      await(scheduler, "ns", TimerState.FAILED);
      goOn.countDown();
      await(scheduler, FailureEvents.NAMESPACE, TimerState.READY);
    }
  }

  /** Firings may arrive while it closes. No post of them begins, so there is none to wait for. */
  @Test
  void aCloseDoesNotWaitForAPostThatDoesNotBegin() {
    try (DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      FailureEvents events = new FailureEvents(TARGET, InstantSource.system());
      scheduler.schedule(
          TimerSpec.of(FailureEvents.NAMESPACE, "a")
              .queue(FailureEvents.QUEUE)
              .payload("{\"namespace\":\"ns\",\"id\":\"a\"}".getBytes(UTF_8))
              .after(Duration.ZERO));
      List<QueueFiring> firings =
          scheduler
              .async()
              .queue(FailureEvents.NAMESPACE, FailureEvents.QUEUE)
              .claim(1, Duration.ofMinutes(1), Duration.ofMinutes(1))
              .toCompletableFuture()
              .join();
      events.close(Duration.ZERO);
      events.post(scheduler, null, firings);
      events.close(Duration.ofHours(1));
    }
  }

  private static void fail(DurableTimer scheduler, String id) {
    scheduler.schedule(TimerSpec.of("ns", id).handler("h").retry(ONCE).after(Duration.ZERO));
  }

  private static void await(DurableTimer scheduler, String namespace, TimerState state) {
    Await.until(
        () -> scheduler.counts().getOrDefault(namespace, Map.of()).getOrDefault(state, 0L) >= 2);
    assertThat(scheduler.counts().get(namespace)).containsEntry(state, 2L);
  }
}
