// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
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

  RequestMetrics(MeterRegistry registry) {
    requests =
        Timer.builder("timewheel.http.requests")
            .description("Time until the answer of a request begins")
            .serviceLevelObjectives(BOUNDS)
            .withRegistry(registry);
  }

  void answered(@Nullable Route route, int status, long nanos) {
    requests
        .withTags(
            "method", route == null ? "none" : route.method(), // not unbounded
            "route", route == null ? "none" : route.pattern(),
            "status", Integer.toString(status))
        .record(Duration.ofNanos(nanos));
  }
}
