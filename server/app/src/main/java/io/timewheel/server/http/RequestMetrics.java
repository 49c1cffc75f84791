// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Measures the time until the answer of a request begins, by route and status. */
final class RequestMetrics {
  private static final Duration[] BOUNDS = {
    Duration.ofMillis(5),
    Duration.ofMillis(25),
    Duration.ofMillis(100),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
    Duration.ofSeconds(30)
  };

  private final MeterProvider<Timer> requests;
  private final Map<Answer, Timer> timers = new ConcurrentHashMap<>();

  /** The kind of a request and of its answer. */
  private record Answer(String method, String route, int status) {}

  RequestMetrics(MeterRegistry registry) {
    requests =
        Timer.builder("timewheel.http.requests")
            .description("Time until the answer of a request begins")
            .serviceLevelObjectives(BOUNDS)
            .withRegistry(registry);
  }

  void answered(@Nullable Route route, int status, long nanos) {
    Answer answer =
        route == null // an unknown path; their number is unlimited
            ? new Answer("none", "none", status)
            : new Answer(route.method(), route.pattern(), status);
    timers.computeIfAbsent(answer, this::timer).record(nanos, TimeUnit.NANOSECONDS);
  }

  private Timer timer(Answer answer) {
    return requests.withTags(
        "method", answer.method,
        "route", answer.route,
        "status", Integer.toString(answer.status));
  }
}
