// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;

import io.timewheel.api.ClaimRequest;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.QueueFiring;
import io.timewheel.durable.QueueRef;
import io.timewheel.server.document.TimerView;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.FairLimit;
import io.timewheel.server.http.HangupWatch;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Claims firings. A waiting claim holds no thread. */
public final class QueueResource {
  private static final int MAX_BODY = 4 * 1024;
  private static final int MAX_CLAIM = 1_000;
  static final Duration LEASE = Duration.ofSeconds(30);
  static final Duration MIN_LEASE = Duration.ofSeconds(1);
  static final Duration MAX_LEASE = Duration.ofHours(12);
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final Duration MAX_WAIT = Duration.ofMinutes(1);

  private final Supplier<DurableTimer> timers;
  private final FairLimit limit;
  private final Set<Claim> waiting = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;

  public QueueResource(Supplier<DurableTimer> timers, int maxWaiting) {
    this.timers = timers;
    this.limit = new FairLimit(maxWaiting);
  }

  public void addTo(Router router) {
    router.write(
        Route.of("POST", "/v1/namespaces/{ns}/queues/{queue}/firings:claim", Role.CONSUME)
            .with(Work.PROMPT),
        this::claim);
  }

  public int waiting() {
    return waiting.size();
  }

  /** Answers all waiting and all later claims with an empty list. */
  public void drain() {
    draining = true;
    waiting.forEach(Claim::callOff);
  }

  // Claims

  /** A waiting claim, which ends if its client disconnects. */
  private final class Claim {
    private final Exchange exchange;
    private final QueueRef<?, ?> queue;
    private final CompletableFuture<List<QueueFiring>> firings;
    private final HangupWatch hangup;

    Claim(Exchange exchange, QueueRef<?, ?> queue, CompletableFuture<List<QueueFiring>> firings) {
      this.exchange = exchange;
      this.queue = queue;
      this.firings = firings;
      this.hangup = new HangupWatch(exchange.request().http(), this::callOff);
    }

    void begin() {
      waiting.add(this);
      try {
        if (!firings.isDone()) {
          hangup.watch();
        }
        if (draining) {
          callOff();
        }
      } finally {
        var unused = firings.whenComplete(this::answer); // releases the limit, even after a failure
      }
    }

    /** Ends the claim. Firings that were claimed meanwhile are released. */
    void callOff() {
      firings.cancel(false);
    }

    private void answer(@Nullable List<QueueFiring> claimed, @Nullable Throwable error) {
      waiting.remove(this);
      limit.release(exchange.request().client());
      hangup.release();
      if (claimed == null && !firings.isCancelled()) {
        exchange.problem(Problem.of(requireNonNull(error)));
        return;
      }
      List<QueueFiring> taken = claimed == null ? List.of() : claimed;
      exchange.run(
          () -> {
            if (!taken.isEmpty() && !exchange.isStillAdmitted()) {
              queue.giveBack(taken);
              throw Authenticator.invalidToken().failure();
            }
            send(exchange, queue, taken);
          });
    }
  }

  private static void send(Exchange exchange, QueueRef<?, ?> queue, List<QueueFiring> firings) {
    if (firings.isEmpty()) {
      exchange.uneventful();
    }
    JsonPage page = new JsonPage("firings");
    int fits = 0;
    while (fits < firings.size() && page.add(TimerView.firing(firings.get(fits)))) {
      fits++;
    }
    queue.giveBack(firings.subList(fits, firings.size()));
    List<QueueFiring> sent = firings.subList(0, fits);
    exchange.note("ids", sent.stream().map(firing -> firing.firing().id()).toList());
    // If the answer was not sent, no consumer has the firings.
    exchange.send(
        200,
        Json.MEDIA_TYPE,
        page.end(null),
        Callback.from(() -> {}, failure -> queue.giveBack(sent)));
  }

  static <T extends Comparable<T>> T between(
      String name, @Nullable T given, T absent, T min, T max) {
    T value = given == null ? absent : given;
    if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
      throw Problem.invalid(name, name + ": " + value + " (expected: " + min + " to " + max + ")")
          .failure();
    }
    return value;
  }

  private Body<?> claim(Exchange exchange) {
    String namespace = exchange.request().namespace();
    var queue =
        timers
            .get()
            .async()
            .queue(namespace, Names.checked("queue", exchange.request().path("queue")));
    return Body.text(
        MAX_BODY,
        body -> {
          ClaimRequest request = JsonReader.readOptional(body, ClaimRequest.class);
          int max = between("max", request.max(), 10, 1, MAX_CLAIM);
          Duration lease =
              between("leaseDuration", request.leaseDuration(), LEASE, MIN_LEASE, MAX_LEASE);
          Duration wait = between("wait", request.maxWait(), WAIT, Duration.ZERO, MAX_WAIT);
          exchange.discardBody(); // a waiting claim needs no part of it
          exchange.deadline().restart(wait);
          String reached = limit.take(exchange.request().client());
          if (reached != null) {
            throw Problem.of(429, "too_many_claims", "too many waiting claims (" + reached + ")")
                .header("Retry-After", "1")
                .failure();
          }
          CompletableFuture<List<QueueFiring>> firings;
          try {
            firings =
                exchange
                    .quotas()
                    .claim(
                        exchange.request().caller(),
                        namespace,
                        wait,
                        List.of(),
                        left -> queue.claim(max, lease, left),
                        queue::giveBack);
          } catch (RuntimeException | Error e) {
            limit.release(exchange.request().client());
            throw e;
          }
          new Claim(exchange, queue, firings).begin();
        });
  }
}
