// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.failure;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.api.FailedTimers;
import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseChange;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.ScheduleResult;
import io.timewheel.durable.TimerFilter;
import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerList;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.node.PeriodicWork;
import io.timewheel.server.webhook.StoredTarget;
import io.timewheel.server.webhook.WebhookAnswer;
import io.timewheel.server.webhook.WebhookClient;
import io.timewheel.server.webhook.WebhookMessage;
import io.timewheel.server.webhook.WebhookTarget;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Posts an event for each timer that fails, at least once, in batches and at a limited rate. Each
 * failure is a timer in the queue {@value #QUEUE} of the namespace {@value #NAMESPACE}. Its ID is
 * derived from the failure, so a failure that is found twice is stored once. Events that wait
 * survive a restart of the process.
 *
 * <p>If a process crashes between a failure and the creation of its timer, the event is missing.
 * The scan at the start of a server adds it. If nodes share a store, a scan every ten minutes adds
 * it too.
 */
public final class FailureEvents implements AutoCloseable {
  /** The namespace of the timers that hold failures. */
  public static final String NAMESPACE = "timewheel.failures";

  static final String QUEUE = "events";

  private static final Logger LOG = LoggerFactory.getLogger(FailureEvents.class);
  private static final int MAX_NOTICED = 10_000;
  private static final int PAGE = 500;
  private static final int MAX_BATCH = 100;
  private static final Duration LEASE = Duration.ofMinutes(1);
  private static final Duration WAIT = Duration.ofSeconds(20);

  /** The shortest time between two events. */
  private static final Duration PACE = Duration.ofSeconds(1);

  /**
   * The maximum age of failures that a scan reports. A scan schedules their events again, and the
   * store recognises these requests for an hour longer, even after the events were purged.
   */
  private static final Duration SCANNED = Duration.ofHours(RequestId.KEPT_HOURS - 1);

  private static final Duration SCAN_EVERY = Duration.ofMinutes(10);

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);

  /**
   * Retries for about a month: up to 1,000 attempts, each at most an hour after the previous one.
   */
  private static final RetryPolicy RETRY =
      new RetryPolicy(1_000, Duration.ofSeconds(1), Duration.ofHours(1));

  private final WebhookTarget target;
  private final InstantSource clock;
  private final Queue<Noticed> noticed;

  /** One thread scans, which may take long, while the other claims and ends events. */
  private final ScheduledExecutorService threads =
      Executors.newScheduledThreadPool(
          2,
          work -> {
            Thread made = new Thread(work, "timewheel-failures");
            made.setDaemon(true);
            return made;
          });

  private volatile CompletableFuture<?> claim = CompletableFuture.completedFuture(null);
  private volatile CompletableFuture<?> posts = CompletableFuture.completedFuture(null);
  private volatile boolean scanPending = true;
  private volatile boolean closed;

  /** A failure in a commit of this node. */
  private record Noticed(TimerKey key, long version, long failedAtMillis, int attempt) {}

  public FailureEvents(WebhookTarget target, InstantSource clock) {
    this(target, clock, MAX_NOTICED);
  }

  FailureEvents(WebhookTarget target, InstantSource clock, int maxNoticed) {
    this.target = target;
    this.clock = clock;
    noticed = new ArrayBlockingQueue<>(maxNoticed);
  }

  /** {@return the store to build the timer with, which reports failures} */
  public TimerStore watch(TimerStore store) {
    return new FailureWatch(store, this::noticed);
  }

  private void noticed(TimerRecord record) {
    if (!record.key().namespace().equals(NAMESPACE)
        && !noticed.offer(
            new Noticed(record.key(), record.version(), record.changedAt(), record.attempt()))) {
      scanPending = true; // the next scan finds failures that did not fit into the queue
    }
  }

  /**
   * Starts to store and post failures.
   *
   * @param client posts the events; null if other nodes post them
   * @param shared whether nodes share the store
   */
  public void start(DurableTimer timer, @Nullable WebhookClient client, boolean shared) {
    var unused =
        threads.scheduleWithFixedDelay(
            new PeriodicWork("the record of failed timers", () -> keep(timer)),
            0,
            1,
            TimeUnit.SECONDS);
    if (shared) {
      var unusedEnd =
          threads.scheduleWithFixedDelay(
              () -> scanPending = true,
              SCAN_EVERY.toMillis(),
              SCAN_EVERY.toMillis(),
              TimeUnit.MILLISECONDS);
    }
    if (client != null) {
      claim(timer, client);
    }
  }

  // Storing failures

  private void keep(DurableTimer timer) {
    List<Noticed> taken = new ArrayList<>();
    List<TimerSpec> specs = new ArrayList<>();
    for (Noticed each = noticed.poll(); each != null; each = noticed.poll()) {
      taken.add(each);
      if (taken.size() == PAGE) {
        break;
      }
    }
    try {
      for (Noticed each : taken) {
        specs.add(
            spec(
                failure(
                    each, timer.timer(each.key.namespace(), each.key.id()).get().orElse(null))));
      }
      schedule(timer, specs);
    } catch (RuntimeException | Error e) {
      for (Noticed each : taken) {
        if (!noticed.offer(each)) {
          scanPending = true;
        }
      }
      throw e;
    }
    if (scanPending) {
      scanPending = false;
      try {
        scan(timer);
      } catch (RuntimeException | Error e) {
        scanPending = true;
        throw e;
      }
    }
  }

  private void scan(DurableTimer timer) {
    Instant earliest = clock.instant().minus(SCANNED);
    TimerFilter filter = TimerFilter.all().states(Set.of(TimerState.FAILED)).withoutPayload();
    String page = null;
    do {
      TimerList found = timer.timers(filter).list(PAGE, page);
      List<TimerSpec> specs = new ArrayList<>();
      for (TimerInfo info : found.timers()) {
        if (info.changedAt().isAfter(earliest) && !info.key().namespace().equals(NAMESPACE)) {
          Noticed each =
              new Noticed(
                  info.key(), info.version(), info.changedAt().toEpochMilli(), info.attempt());
          specs.add(spec(failure(each, info)));
        }
      }
      schedule(timer, specs);
      page = found.nextPage().orElse(null);
    } while (page != null && !closed);
  }

  private static FailedTimers.Timer failure(Noticed noticed, @Nullable TimerInfo info) {
    return new FailedTimers.Timer(
        noticed.key.namespace(),
        noticed.key.id(),
        noticed.version,
        Instant.ofEpochMilli(noticed.failedAtMillis),
        noticed.attempt,
        info == null ? null : TimerView.error(info, info.lastError().orElse(null)),
        info == null ? null : info.queue().orElse(null),
        info == null ? null : info.headers().get(StoredTarget.URL));
  }

  private static TimerSpec spec(FailedTimers.Timer failure) {
    String name =
        Json.text(
            List.of(
                failure.namespace(),
                failure.id(),
                failure.version(),
                failure.failedAt().toString()));
    String id = hash(name);
    return TimerSpec.of(NAMESPACE, id)
        .requestId(RequestId.of(id))
        .queue(QUEUE)
        .payload(Json.bytes(failure))
        .retry(RETRY)
        .after(Duration.ZERO)
        .onlyIfAbsent()
        .evenIfFinished();
  }

  private static String hash(String text) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is in every JDK", e);
    }
  }

  private static void schedule(DurableTimer timer, List<TimerSpec> specs) {
    for (BatchResult<ScheduleResult> result :
        specs.isEmpty() ? List.<BatchResult<ScheduleResult>>of() : timer.scheduleAll(specs)) {
      RuntimeException error = result.error();
      boolean exists =
          error instanceof DurableTimerException refused
              && refused.reason() == DurableTimerException.Reason.EXISTS;
      if (error != null && !exists) {
        throw error;
      }
    }
  }

  // Posting events

  private void claim(DurableTimer timer, WebhookClient client) {
    if (closed) {
      return;
    }
    try {
      var claimed =
          timer.async().queue(NAMESPACE, QUEUE).claim(MAX_BATCH, LEASE, WAIT).toCompletableFuture();
      claim = claimed;
      var unused =
          claimed.whenComplete(
              (firings, failure) -> {
                try {
                  if (failure == null) {
                    post(timer, client, firings);
                  }
                } finally {
                  later(() -> claim(timer, client));
                }
              });
      if (closed) { // after the write of claim, which a close reads later
        claimed.cancel(false);
      }
    } catch (RuntimeException | Error e) { // the store does not answer, or the timer is closed
      later(() -> claim(timer, client));
    }
  }

  private void later(Runnable work) {
    if (!closed) {
      var unused = threads.schedule(work, PACE.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  void post(DurableTimer timer, WebhookClient client, List<QueueFiring> firings) {
    List<FailedTimers.Timer> failures = new ArrayList<>();
    List<QueueFiring> readable = new ArrayList<>();
    StringBuilder ids = new StringBuilder();
    for (QueueFiring each : firings) {
      try {
        failures.add(
            JsonReader.read(new String(each.firing().payload(), UTF_8), FailedTimers.Timer.class));
        readable.add(each);
        ids.append(each.firing().fireId());
      } catch (RuntimeException e) { // written by another program, or by a newer release
        String error = "not an event of --failed-webhook: " + e.getMessage();
        LOG.warn("{}: {}", each.firing().fireId(), error);
        var unused =
            timer
                .async()
                .changeLease(
                    LeaseChange.nack(each.firing().fireId(), each.leaseToken(), error, null));
      }
    }
    if (readable.isEmpty()) {
      return;
    }
    FailedTimers event =
        new FailedTimers(FailedTimers.TYPE, clock.instant(), new FailedTimers.Data(failures));
    WebhookMessage message =
        new WebhookMessage(NAMESPACE, hash(ids.toString()), Json.bytes(event), Map.of());
    CompletableFuture<Void> end = new CompletableFuture<>();
    posts = CompletableFuture.allOf(posts, end);
    if (closed) { // after the write of posts, which a close reads later
      end.complete(null);
      return;
    }
    var unused =
        client
            .post(target, message)
            .handleAsync((answer, failure) -> end(timer, readable, answer, failure), threads)
            .thenCompose(ended -> ended)
            .whenComplete((ended, failure) -> end.complete(null));
  }

  private CompletionStage<?> end(
      DurableTimer timer,
      List<QueueFiring> firings,
      @Nullable WebhookAnswer answer,
      @Nullable Throwable failure) {
    boolean done = answer != null && answer.meaning() == WebhookAnswer.Meaning.DONE;
    String error =
        answer == null
            ? String.valueOf(failure == null ? null : failure.getMessage())
            : answer.describe(target.host());
    if (!done) {
      LOG.warn(
          "--failed-webhook: {} failed timers will be sent again later: {}", firings.size(), error);
    }
    Duration wait = answer == null ? null : answer.retryAfter();
    List<LeaseChange> ends = new ArrayList<>();
    for (QueueFiring each : firings) {
      ends.add(
          done
              ? LeaseChange.ack(each.firing().fireId(), each.leaseToken())
              : LeaseChange.nack(each.firing().fireId(), each.leaseToken(), error, wait));
    }
    return timer.async().changeLeases(ends);
  }

  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /**
   * Stops posting, and waits for the answers to open posts. Claimed failures without an answer are
   * posted again after their claim lease.
   */
  public void close(Duration timeout) {
    closed = true;
    claim.cancel(false);
    try {
      posts.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("--failed-webhook: not all posts have ended", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
  }
}
