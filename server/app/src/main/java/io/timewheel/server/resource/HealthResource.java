// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.HealthAnswer;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.store.StoreProbe;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** Answers the probes of a monitor: whether the process runs, and whether it is ready to serve. */
public final class HealthResource {
  private final StoreProbe probe;
  private final Map<String, BooleanSupplier> faults;
  private volatile boolean draining;

  /**
   * Creates the resource.
   *
   * @param faults further faults that make the server not ready, by their descriptions
   */
  public HealthResource(StoreProbe probe, Map<String, BooleanSupplier> faults) {
    this.probe = probe;
    this.faults = faults;
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", "/healthz"), exchange -> state(exchange, "ok"));
    router.read(Route.of("GET", "/readyz"), this::ready);
  }

  /** Reports the server as not ready from now on. */
  public void drain() {
    draining = true;
  }

  private void ready(Exchange exchange) {
    if (draining) {
      throw Problem.unavailable("the server is shutting down").failure();
    }
    if (!probe.isAvailable()) {
      throw Problem.unavailable("the store does not answer").failure();
    }
    faults.forEach(
        (fault, isPresent) -> {
          if (isPresent.getAsBoolean()) {
            throw Problem.unavailable(fault).failure();
          }
        });
    state(exchange, "ready");
  }

  private static void state(Exchange exchange, String text) {
    exchange.json(200, new HealthAnswer(text));
  }
}
