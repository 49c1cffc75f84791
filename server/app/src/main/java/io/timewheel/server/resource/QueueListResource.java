// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.api.PauseAnswer;
import io.timewheel.api.QueuesAnswer;
import io.timewheel.durable.NamespaceRef;
import io.timewheel.durable.QueueInfo;
import io.timewheel.durable.QueueRef;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.server.http.Body;
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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToLongFunction;

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
    router.read(Route.of("GET", QUEUES, Role.READ), this::list);
    add(
        router,
        QUEUES + "/{queue}:pause",
        this::queue,
        QueueRef::pause,
        QueueListResource::running);
    add(
        router,
        QUEUES + "/{queue}:resume",
        this::queue,
        QueueRef::resume,
        QueueListResource::running);
    add(
        router,
        NAMESPACE + ":pause",
        this::namespace,
        NamespaceRef::pause,
        QueueListResource::running);
    add(
        router,
        NAMESPACE + ":resume",
        this::namespace,
        NamespaceRef::resume,
        QueueListResource::running);
  }

  private QueueRef<?, ?> queue(Exchange exchange) {
    return reads
        .timer()
        .queue(
            exchange.request().namespace(),
            Names.checked("queue", exchange.request().path("queue")));
  }

  private NamespaceRef namespace(Exchange exchange) {
    return reads.timer().namespace(exchange.request().namespace());
  }

  /** Adds a pause or its end, which answers with the number of attempts that still run. */
  private <T> void add(
      Router router,
      String path,
      Function<Exchange, T> scope,
      Consumer<T> change,
      ToLongFunction<T> running) {
    router.write(
        Route.of("POST", path, Role.OPERATE),
        exchange -> {
          T changed = scope.apply(exchange);
          return Body.text(
              MAX_BODY,
              body -> {
                JsonReader.empty(body);
                change.accept(changed);
                exchange.json(
                    200, new PauseAnswer(reads.ask(timer -> running.applyAsLong(changed))));
              });
        });
  }

  private static long running(QueueRef<?, ?> queue) {
    return queue.info().running();
  }

  private static long running(NamespaceRef namespace) {
    return namespace.counts().getOrDefault(TimerState.RUNNING, 0L);
  }

  private void list(Exchange exchange) {
    String namespace = exchange.request().namespace();
    Query query = exchange.request().query("pageSize", "pageToken");
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
}
