// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.timewheel.api.ClaimRequest;
import io.timewheel.api.LeaseRequest;
import io.timewheel.api.OutcomeAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LeaseResult;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.model.FireId;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.HangupWatch;
import io.timewheel.server.http.IdempotencyKeys;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.Json;
import io.timewheel.server.json.JsonPage;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Role;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Queues: claims, which wait without a thread, and what becomes of the leases. */
public final class QueueResource {
  private static final int MAX_BODY = 64 * 1024;
  private static final int MAX_CLAIM = 1_000;
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MIN_LEASE = Duration.ofSeconds(1);
  private static final Duration MAX_LEASE = Duration.ofHours(12);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration MAX_WAIT = Duration.ofMinutes(1);
  private static final int MAX_ERROR = 4_000;
  private static final Pattern LEASE_TOKEN = Pattern.compile("[0-9a-f]{32}");

  private final Supplier<DurableTimer> timers;
  private final IdempotencyKeys idempotencyKeys;
  private final int maxWaiting;
  private final Set<Claim> waiting = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;

  public QueueResource(
      Supplier<DurableTimer> timers, IdempotencyKeys idempotencyKeys, int maxWaiting) {
    this.timers = timers;
    this.idempotencyKeys = idempotencyKeys;
    this.maxWaiting = maxWaiting;
  }

  public void addTo(Router router) {
    router.add(
        Route.of("POST", "/v1/namespaces/{ns}/queues/{queue}/firings:claim", Role.WRITE),
        this::claim);
    add(router, "ack", LeaseRequest.Ack.class, (timer, id, ack, token) -> timer.ack(id, token));
    add(router, "nack", LeaseRequest.Nack.class, QueueResource::nack);
    add(router, "extend", LeaseRequest.Extend.class, QueueResource::extend);
  }

  public int waiting() {
    return waiting.size();
  }

  /** Answers all waiting and all later calls with nothing. */
  public void drain() {
    draining = true;
    waiting.forEach(Claim::callOff);
  }

  // Claims

  /** A claim that waits, its connection watched. */
  private final class Claim {
    private final Exchange exchange;
    private final DurableTimer timer;
    private final CompletableFuture<List<QueueFiring>> firings;
    private final HangupWatch hangup;

    Claim(Exchange exchange, DurableTimer timer, CompletableFuture<List<QueueFiring>> firings) {
      this.exchange = exchange;
      this.timer = timer;
      this.firings = firings;
      this.hangup = new HangupWatch(exchange.request(), this::callOff);
    }

    void begin() {
      waiting.add(this);
      if (!firings.isDone()) {
        hangup.watch();
      }
      if (draining) {
        callOff();
      }
      var unused = firings.whenComplete(this::answer);
    }

    /** What was claimed meanwhile goes back. */
    void callOff() {
      firings.cancel(false);
    }

    private void answer(@Nullable List<QueueFiring> claimed, @Nullable Throwable error) {
      waiting.remove(this);
      hangup.release();
      if (claimed == null && !firings.isCancelled()) {
        exchange.problem(Problem.of(requireNonNull(error)));
        return;
      }
      List<QueueFiring> taken = claimed == null ? List.of() : claimed;
      exchange.run(
          () -> {
            if (!taken.isEmpty() && !exchange.isStillAdmitted()) {
              timer.giveBack(taken);
              throw Authenticator.invalidToken().failure();
            }
            send(exchange, timer, taken);
          });
    }
  }

  private static void send(Exchange exchange, DurableTimer timer, List<QueueFiring> firings) {
    if (firings.isEmpty()) {
      exchange.uneventful();
    }
    JsonPage page = new JsonPage("firings");
    int fits = 0;
    while (fits < firings.size() && page.add(TimerView.firing(firings.get(fits)))) {
      fits++;
    }
    timer.giveBack(firings.subList(fits, firings.size()));
    List<QueueFiring> sent = firings.subList(0, fits);
    exchange.note("ids", sent.stream().map(firing -> firing.firing().id()).toList());
    // Nobody has them if the answer did not go out.
    exchange.send(
        200,
        Json.MEDIA_TYPE,
        page.end(null),
        Callback.from(() -> {}, failure -> timer.giveBack(sent)));
  }

  private static <T extends Comparable<T>> T between(
      String name, @Nullable T given, T absent, T min, T max) {
    T value = given == null ? absent : given;
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw Problem.invalid(name, name + ": " + value + " (expected: " + min + " to " + max + ")")
          .failure();
    }
    return value;
  }

  private void claim(Exchange exchange) {
    DurableTimer timer = timers.get();
    String namespace = exchange.namespace();
    String queue = Names.checked("queue", exchange.path("queue"));
    exchange.body(
        MAX_BODY,
        body -> {
          ClaimRequest request = JsonReader.readOptional(body, ClaimRequest.class);
          int max = between("max", request.max(), 10, 1, MAX_CLAIM);
          Duration lease =
              between("leaseDuration", request.leaseDuration(), LEASE, MIN_LEASE, MAX_LEASE);
          Duration wait = between("wait", request.maxWait(), WAIT, Duration.ZERO, MAX_WAIT);
          if (waiting.size() >= maxWaiting) {
            throw Problem.of(429, "too_many_claims", "as many claims wait as may")
                .header("Retry-After", "1")
                .failure();
          }
          CompletionStage<List<QueueFiring>> firings =
              timer.claim(namespace, queue, max, lease, wait);
          new Claim(exchange, timer, firings.toCompletableFuture()).begin();
        });
  }

  // Leases

  /** Ends a lease, or extends it. */
  private interface LeaseCall<T> {
    CompletionStage<LeaseResult> apply(
        DurableTimer timer, FireId fireId, T request, String leaseToken);
  }

  private <T extends LeaseRequest> void add(
      Router router, String verb, Class<T> type, LeaseCall<T> call) {
    router.add(
        Route.of("POST", "/v1/namespaces/{ns}/firings/{fireId}:" + verb, Role.WRITE),
        exchange -> end(exchange, type, call));
  }

  private <T extends LeaseRequest> void end(Exchange exchange, Class<T> type, LeaseCall<T> call) {
    DurableTimer timer = timers.get();
    String namespace = exchange.namespace();
    FireId fireId = fireId(namespace, exchange.path("fireId"));
    exchange.note("id", fireId.key().id());
    exchange.body(
        MAX_BODY,
        body -> {
          T request = JsonReader.read(body, type);
          String token = request.leaseToken();
          idempotencyKeys.answer(
              exchange,
              token == null ? "" : token,
              () -> {
                String checked = leaseToken(token);
                CompletionStage<LeaseResult> result =
                    LEASE_TOKEN.matcher(checked).matches()
                        ? call.apply(timer, fireId, request, checked)
                        : CompletableFuture.completedStage(LeaseResult.LOST); // nobody ever had it
                return result.thenApply(ended -> each -> ended(each, ended));
              });
        });
  }

  private static String leaseToken(@Nullable String token) {
    if (token == null) {
      throw Problem.invalid(
              "leaseToken", "leaseToken: is missing (expected: the one of the firing)")
          .failure();
    }
    return token;
  }

  private static CompletionStage<LeaseResult> nack(
      DurableTimer timer, FireId fireId, LeaseRequest.Nack nack, String token) {
    String error = requireNonNullElse(nack.error(), "the consumer gave no reason");
    String kept = error.length() > MAX_ERROR ? error.substring(0, MAX_ERROR) : error;
    return timer.nack(fireId, token, kept, nack.after());
  }

  private static CompletionStage<LeaseResult> extend(
      DurableTimer timer, FireId fireId, LeaseRequest.Extend extend, String token) {
    Duration sent = extend.leaseDuration();
    if (sent == null) {
      throw Problem.invalid("leaseDuration", "leaseDuration: is missing (expected: a duration)")
          .failure();
    }
    return timer.extend(fireId, token, between("leaseDuration", sent, LEASE, MIN_LEASE, MAX_LEASE));
  }

  /** What is no fire id, or one of another namespace, names nothing here. */
  private static FireId fireId(String namespace, String text) {
    try {
      FireId fireId = FireId.parse(text);
      if (fireId.key().namespace().equals(namespace)) {
        return fireId;
      }
    } catch (IllegalArgumentException e) {
      // said below
    }
    throw Problem.of(404, "not_found", "there is no such firing").failure();
  }

  private static void ended(Exchange exchange, LeaseResult result) {
    switch (result) {
      case DONE -> exchange.json(200, new OutcomeAnswer("done"));
      case LOST ->
          exchange.problem(
              Problem.of(409, "lease_lost", "the lease ran out, or was ended in another way"));
      case NOT_FOUND -> exchange.problem(Problem.of(404, "not_found", "there is no such firing"));
    }
  }
}
