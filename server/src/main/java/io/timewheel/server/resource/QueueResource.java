// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import static java.util.Objects.requireNonNull;

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
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Queues: claims, which wait without a thread, and what becomes of the leases. */
public final class QueueResource {
  private static final int MAX_BODY = 64 * 1024;
  private static final long MAX_CLAIM = 1_000L;
  private static final Duration MIN_LEASE = Duration.ofSeconds(1);
  private static final Duration MAX_LEASE = Duration.ofHours(12);
  private static final Duration MAX_WAIT = Duration.ofMinutes(1);
  private static final int MAX_ERROR = 4_000;

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
    for (String verb : List.of("ack", "nack", "extend")) {
      router.add(
          Route.of("POST", "/v1/namespaces/{ns}/firings/{fireId}:" + verb, Role.WRITE),
          exchange -> end(exchange, verb));
    }
  }

  public int waiting() {
    return waiting.size();
  }

  /** Answers those who wait, and those to come, with nothing. */
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
    exchange.note("ids", firings.stream().map(firing -> firing.firing().id()).toList());
    byte[] body =
        Json.bytes(
            json -> {
              json.writeStartObject();
              json.writeArrayPropertyStart("firings");
              firings.forEach(firing -> TimerView.firing(json, firing));
              json.writeEndArray();
              json.writeEndObject();
            });
    // Nobody has them if the answer did not go out.
    exchange.send(
        200, Json.MEDIA_TYPE, body, Callback.from(() -> {}, failure -> timer.giveBack(firings)));
  }

  /** What a claim asks for. */
  private static final class Request {
    private int max = 10;
    private Duration leaseDuration = Duration.ofSeconds(30);
    private Duration wait = Duration.ofSeconds(20);

    boolean field(String name, JsonReader value) {
      switch (name) {
        case "max" -> {
          Long number = value.integer();
          max = number == null ? max : between(name, number, 1L, MAX_CLAIM).intValue();
        }
        case "leaseDuration" ->
            leaseDuration = duration(name, value.duration(), leaseDuration, MIN_LEASE, MAX_LEASE);
        case "wait" -> wait = duration(name, value.duration(), wait, Duration.ZERO, MAX_WAIT);
        default -> {
          return false;
        }
      }
      return true;
    }
  }

  private static Duration duration(
      String name, @Nullable Duration given, Duration absent, Duration min, Duration max) {
    return given == null ? absent : between(name, given, min, max);
  }

  private static <T extends Comparable<T>> T between(String name, T value, T min, T max) {
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
          Request request = new Request();
          if (!body.isEmpty()) {
            JsonReader.document(body, request::field);
          }
          if (waiting.size() >= maxWaiting) {
            throw Problem.of(429, "too_many_claims", "as many claims wait as may")
                .header("Retry-After", "1")
                .failure();
          }
          CompletionStage<List<QueueFiring>> firings =
              timer.claim(namespace, queue, request.max, request.leaseDuration, request.wait);
          new Claim(exchange, timer, firings.toCompletableFuture()).begin();
        });
  }

  // Leases

  /** What the end of a lease carries. */
  private static final class End {
    private final String verb;
    private @Nullable String leaseToken;
    private @Nullable String error;
    private @Nullable Duration after;
    private @Nullable Duration leaseDuration;

    End(String verb) {
      this.verb = verb;
    }

    boolean field(String name, JsonReader value) {
      if (name.equals("leaseToken")) {
        leaseToken = value.string();
      } else if (name.equals("error") && verb.equals("nack")) {
        error = value.string();
      } else if (name.equals("after") && verb.equals("nack")) {
        after = value.duration();
      } else if (name.equals("leaseDuration") && verb.equals("extend")) {
        leaseDuration = value.duration();
      } else {
        return false;
      }
      return true;
    }

    CompletionStage<LeaseResult> apply(DurableTimer timer, FireId fireId) {
      if (leaseToken == null) {
        throw Problem.invalid(
                "leaseToken", "leaseToken: is missing (expected: the one of the firing)")
            .failure();
      }
      if (!leaseToken.matches("[0-9a-f]{32}")) {
        return CompletableFuture.completedStage(LeaseResult.LOST); // nobody ever had it
      }
      return switch (verb) {
        case "ack" -> timer.ack(fireId, leaseToken);
        case "nack" -> timer.nack(fireId, leaseToken, reason(), after);
        default -> {
          if (leaseDuration == null) {
            throw Problem.invalid(
                    "leaseDuration", "leaseDuration: is missing (expected: a duration)")
                .failure();
          }
          yield timer.extend(
              fireId, leaseToken, between("leaseDuration", leaseDuration, MIN_LEASE, MAX_LEASE));
        }
      };
    }

    private String reason() {
      String text = error == null ? "the consumer gave no reason" : error;
      return text.length() > MAX_ERROR ? text.substring(0, MAX_ERROR) : text;
    }
  }

  private void end(Exchange exchange, String verb) {
    DurableTimer timer = timers.get();
    String namespace = exchange.namespace();
    FireId fireId = fireId(namespace, exchange.path("fireId"));
    exchange.note("id", fireId.key().id());
    exchange.body(
        MAX_BODY,
        body -> {
          End end = new End(verb);
          JsonReader.document(body, end::field);
          idempotencyKeys.answer(
              exchange,
              end.leaseToken == null ? "" : end.leaseToken,
              () -> end.apply(timer, fireId).thenApply(result -> each -> ended(each, result)));
        });
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
      case DONE ->
          exchange.json(
              200,
              json -> {
                json.writeStartObject();
                json.writeStringProperty("outcome", "done");
                json.writeEndObject();
              });
      case LOST ->
          exchange.problem(
              Problem.of(409, "lease_lost", "the lease ran out, or was ended in another way"));
      case NOT_FOUND -> exchange.problem(Problem.of(404, "not_found", "there is no such firing"));
    }
  }
}
