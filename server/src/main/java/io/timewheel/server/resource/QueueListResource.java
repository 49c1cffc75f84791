// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.PauseAnswer;
import io.timewheel.api.QueuesAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.QueueInfo;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.PageToken;
import io.timewheel.server.http.Query;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.problem.Names;
import io.timewheel.server.security.Role;
import io.timewheel.server.store.StoreReads;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lists the queues of a namespace, and pauses queues and namespaces. */
public final class QueueListResource {
  private static final String NAMESPACE = "/v1/namespaces/{ns}";
  private static final String QUEUES = NAMESPACE + "/queues";
  private static final int MAX_BODY = 16 * 1024;
  private static final int PAGE = 1_000;

  /**
   * The largest page. JSON may encode each of the 256 bytes of a name as six bytes, so half of such
   * a page may already take 4 MB.
   */
  private static final int MAX_PAGE = 2_000;

  private final StoreReads reads;

  public QueueListResource(StoreReads reads) {
    this.reads = reads;
  }

  public void addTo(Router router) {
    router.add(Route.of("GET", QUEUES, Role.READ), this::list);
    router.add(
        Route.of("POST", QUEUES + "/{queue}:pause", Role.OPERATE),
        exchange -> {
          String queue = Names.checked("queue", exchange.path("queue"));
          change(exchange, timer -> timer.pauseQueueAsync(exchange.namespace(), queue));
        });
    router.add(
        Route.of("POST", QUEUES + "/{queue}:resume", Role.OPERATE),
        exchange -> {
          String queue = Names.checked("queue", exchange.path("queue"));
          change(
              exchange,
              timer ->
                  timer
                      .resumeQueueAsync(exchange.namespace(), queue)
                      .thenApply(resumed -> claimed(exchange.namespace(), queue)));
        });
    router.add(
        Route.of("POST", NAMESPACE + ":pause", Role.OPERATE),
        exchange ->
            change(
                exchange,
                timer ->
                    timer
                        .pauseAsync(exchange.namespace())
                        .thenApply(handlers -> handlers + claimed(exchange.namespace(), null))));
    router.add(
        Route.of("POST", NAMESPACE + ":resume", Role.OPERATE),
        exchange ->
            change(
                exchange,
                timer ->
                    timer
                        .resumeAsync(exchange.namespace())
                        .thenApply(resumed -> running(exchange.namespace()))));
  }

  private void list(Exchange exchange) {
    String namespace = exchange.namespace();
    Query query = exchange.query("pageSize", "pageToken");
    int pageSize = query.number("pageSize", PAGE, MAX_PAGE);
    String list = "queues\n" + namespace;
    String last = PageToken.parse(list, query.text("pageToken"));
    TimerKey after = last.isEmpty() ? null : new TimerKey(namespace, last);
    List<QueueInfo> queues =
        reads.ask(timer -> timer.queues(namespace, after, pageSize + 1)); // one more, if any
    boolean isLast = queues.size() <= pageSize;
    List<QueueInfo> page = isLast ? queues : queues.subList(0, pageSize);
    exchange.json(
        200,
        new QueuesAnswer(
            page.stream().map(QueueListResource::view).toList(),
            isLast ? null : PageToken.of(list, page.get(pageSize - 1).name())));
  }

  private static QueuesAnswer.Queue view(QueueInfo queue) {
    return new QueuesAnswer.Queue(
        queue.name(),
        queue.ready(),
        queue.oldestReadyAt().orElse(null),
        queue.running(),
        queue.waitingClaims(),
        queue.paused());
  }

  /** Pauses or resumes, and answers with the number of attempts that still run. */
  private void change(
      Exchange exchange, Function<DurableTimer, CompletionStage<? extends Number>> call) {
    DurableTimer timer = reads.timer();
    exchange.body(
        MAX_BODY,
        body -> {
          JsonReader.empty(body);
          exchange.on(
              call.apply(timer),
              running -> exchange.json(200, new PauseAnswer(running.longValue())));
        });
  }

  /** Returns the number of claimed timers of a queue; of the whole namespace if it is null. */
  private long claimed(String namespace, @Nullable String queue) {
    return reads.ask(timer -> timer.claimed(namespace, queue));
  }

  private long running(String namespace) {
    return reads
        .ask(DurableTimer::counts)
        .getOrDefault(namespace, Map.of())
        .getOrDefault(TimerState.RUNNING, 0L);
  }
}
