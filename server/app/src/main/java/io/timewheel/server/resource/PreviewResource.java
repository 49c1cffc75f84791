// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.ApiJson;
import io.timewheel.api.PreviewRequest;
import io.timewheel.durable.DurableTimer;
import io.timewheel.server.document.TimerSpecs;
import io.timewheel.server.http.Body;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Returns the next runs of a schedule that is not stored. */
public final class PreviewResource {
  private static final int MAX_BODY = 16 * 1024;
  private static final int COUNT = 5;
  private static final int MAX_COUNT = 1_000;

  private final StoreReads reads;

  public PreviewResource(StoreReads reads) {
    this.reads = reads;
  }

  public void addTo(Router router) {
    router.write(Route.of("POST", "/v1/schedules:preview", Role.READ, Role.PRODUCE), this::preview);
  }

  private Body<?> preview(Exchange exchange) {
    return Body.text(
        MAX_BODY,
        body -> {
          PreviewRequest schedule = JsonReader.read(body, PreviewRequest.class);
          int count = count(schedule.count());
          DurableTimer timer = reads.timer();
          List<Instant> next =
              timer.preview(TimerSpecs.schedule(schedule, timer.now()), count).stream()
                  .filter(ApiJson::isAccepted)
                  .toList();
          exchange.json(200, new PreviewRequest.Answer(next));
        });
  }

  private static int count(@Nullable Integer sent) {
    int count = sent == null ? COUNT : sent;
    if (count < 1 || count > MAX_COUNT) {
      throw Problem.invalid("count", "count: " + count + " (expected: 1 to " + MAX_COUNT + ")")
          .failure();
    }
    return count;
  }
}
