// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.model.AsyncHandler;
import io.timewheel.durable.model.Firing;
import io.timewheel.server.trace.Tracing;
import java.net.URLEncoder;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests to the URLs of timers. Each pair of namespace and host has its own handler,
 * and so its own limit. All handlers share {@link DeliverySlots}.
 */
public final class WebhookHandler implements AsyncHandler {
  /** The largest number of concurrent requests of a namespace to a host. */
  private static final int MAX_PER_NAME = 16;

  /** The timeout of an attempt: longer than any request, because the client has its own timeout. */
  private static final Duration TIME_LIMIT = Duration.ofSeconds(75);

  /** The delay of a delivery that could not start. */
  private static final Duration NO_SLOT_WAIT = Duration.ofSeconds(1);

  private static final Duration[] BOUNDS = {
    Duration.ofMillis(25),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(30)
  };

  /**
   * The body of a timer without payload. It is not empty, because some receivers parse the verified
   * text.
   */
  private static final byte[] NO_PAYLOAD = "null".getBytes(US_ASCII);

  private final WebhookClient client;
  private final InstantSource clock;
  private final MeterProvider<Timer> requests;
  private final HostLimits limits;

  public WebhookHandler(
      WebhookClient client, InstantSource clock, MeterRegistry meters, HostLimits limits) {
    this.limits = limits;
    this.client = client;
    this.clock = clock;
    requests =
        Timer.builder("timewheel.webhook.requests")
            .description("Time of a webhook request, until its answer or its failure")
            .serviceLevelObjectives(BOUNDS)
            .withRegistry(meters);
  }

  /** Registers the handler. */
  public DurableTimerBuilder addTo(DurableTimerBuilder builder) {
    return builder.handlers(
        DeliveryName.PREFIX, this, MAX_PER_NAME, new DeliverySlots(), TIME_LIMIT);
  }

  @Override
  public CompletionStage<?> start(Firing firing) {
    WebhookTarget target = StoredTarget.of(firing.headers());
    HostLimits.Permit permit = limits.acquire(target.host());
    if (!permit.delay().isZero()) {
      return giveBack(firing, permit.delay());
    }
    byte[] body = firing.payload().length == 0 ? NO_PAYLOAD : firing.payload();
    Tracing.Span span = span(firing, target);
    Map<String, String> headers = headers(firing);
    String traceparent = span.traceparent();
    if (traceparent != null && !target.sets(Tracing.HEADER)) {
      headers.put(Tracing.HEADER, traceparent);
    }
    WebhookMessage message =
        new WebhookMessage(firing.namespace(), firing.fireId().toString(), body, headers);
    long beganNanos = System.nanoTime();
    CompletableFuture<WebhookAnswer> posted = client.post(target, message);
    CompletableFuture<?> released =
        posted
            .exceptionally(failure -> null)
            .thenCompose(answer -> limits.release(target.host(), permit));
    return posted
        .<CompletionStage<?>>handle(
            (answer, failure) -> {
              span.end(error(answer, failure, target));
              if (failure instanceof NoSlotException) {
                return giveBack(firing, NO_SLOT_WAIT);
              }
              measure(answer, System.nanoTime() - beganNanos);
              if (failure != null) {
                throw new Failed(String.valueOf(failure.getMessage()));
              }
              endAttempt(answer, target, firing);
              return posted;
            })
        .thenCompose(stage -> stage)
        .thenCombine(released, (end, same) -> end); // a close waits for both
  }

  private static Tracing.Span span(Firing firing, WebhookTarget target) {
    return Tracing.get()
        .deliver(
            firing.headers().get(Tracing.HEADER),
            Map.of(
                "timewheel.namespace",
                firing.namespace(),
                "timewheel.id",
                firing.id(),
                "timewheel.attempt",
                Integer.toString(firing.attempt()),
                "server.address",
                target.host()));
  }

  private static @Nullable String error(
      @Nullable WebhookAnswer answer, @Nullable Throwable failure, WebhookTarget target) {
    if (answer == null) {
      return failure == null ? null : String.valueOf(failure.getMessage());
    }
    boolean done = answer.meaning() == WebhookAnswer.Meaning.DONE;
    return done ? null : answer.describe(target.host());
  }

  private void measure(@Nullable WebhookAnswer answer, long nanos) {
    requests
        .withTag("status", answer == null ? "none" : answer.statusClass())
        .record(Duration.ofNanos(nanos));
  }

  /** Holds the slot briefly, so that the next attempt does not follow at once. */
  private CompletionStage<?> giveBack(Firing firing, Duration wait) {
    firing.giveBack(clock.instant().plus(wait));
    return CompletableFuture.runAsync(
        () -> {}, CompletableFuture.delayedExecutor(wait.toMillis(), TimeUnit.MILLISECONDS));
  }

  private void endAttempt(WebhookAnswer answer, WebhookTarget target, Firing firing) {
    switch (answer.meaning()) {
      case DONE -> {}
      case GONE -> firing.giveUp(answer.describe(target.host()));
      case FAILED -> {
        if (answer.retryAfter() != null) {
          firing.retryNotBefore(clock.instant().plus(answer.retryAfter()));
        }
        throw new Failed(answer.describe(target.host()));
      }
    }
  }

  /** {@return the parts of a firing except its payload; names are encoded as in a URL} */
  private static Map<String, String> headers(Firing firing) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("timewheel-namespace", encoded(firing.namespace()));
    headers.put("timewheel-id", encoded(firing.id()));
    headers.put("timewheel-version", Long.toString(firing.version()));
    headers.put("timewheel-attempt", Integer.toString(firing.attempt()));
    headers.put("timewheel-scheduled-at", firing.scheduledAt().toString());
    headers.put("timewheel-fired-at", firing.firedAt().toString());
    headers.put("timewheel-late", Boolean.toString(firing.isLate()));
    StoredTarget.userHeaders(firing.headers())
        .forEach((name, value) -> headers.put("timewheel-header-" + encoded(name), encoded(value)));
    return headers;
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20");
  }

  /** Thrown if a request failed. The history shows only its text, without a class name. */
  @SuppressWarnings("OverrideThrowableToString") // the engine stores this text
  private static final class Failed extends RuntimeException {
    private static final long serialVersionUID = 1;

    Failed(String why) {
      super(why, null, false, false);
    }

    @Override
    public String toString() {
      return String.valueOf(getMessage());
    }
  }
}
