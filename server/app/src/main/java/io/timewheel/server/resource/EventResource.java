// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.document.ClusterView;
import io.timewheel.server.document.StatsView;
import io.timewheel.server.event.EventStream;
import io.timewheel.server.event.EventStream.Topic;
import io.timewheel.server.event.FeedSlices;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.FairLimit;
import io.timewheel.server.http.HangupWatch;
import io.timewheel.server.http.Query;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves streams of server-sent events. No stream holds a thread: one pulse writes them all. A
 * stream opens without figures, and one count serves all streams that wait for them, so that any
 * number of clients may connect at once.
 */
public final class EventResource {
  private static final Logger LOG = LoggerFactory.getLogger(EventResource.class);
  private static final String MEDIA_TYPE = "text/event-stream";

  private final StoreReads reads;
  private final Node node;
  private final StatsView stats;
  private final ClusterView cluster;
  private final FairLimit limit;
  private final Set<Connected> streams = ConcurrentHashMap.newKeySet();

  /** The requests for figures that no count has served. One thread at a time counts. */
  private final AtomicInteger requested = new AtomicInteger();

  /** True if the next count also compares the state of the cluster. */
  private volatile boolean clusterDue;

  /** The last cluster state that was sent. Only the thread that counts uses it. */
  private byte[] lastCluster = {};

  private volatile boolean draining;

  public EventResource(
      StoreReads reads, Node node, StatsView stats, ClusterView cluster, int maxStreams) {
    this.reads = reads;
    this.node = node;
    this.stats = stats;
    this.cluster = cluster;
    this.limit = new FairLimit(maxStreams);
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", "/v1/events", Role.READ).with(Work.PROMPT), this::open);
  }

  public int open() {
    return streams.size();
  }

  private void open(Exchange exchange) {
    Query query = exchange.request().query("types", "namespace");
    Scope scope = Scope.of(exchange.request().caller(), query.text("namespace"));
    Set<Topic> types = types(query.list("types"));
    var unused = reads.timer(); // fails with 503 until there is a timer
    if (draining) {
      throw Problem.unavailable("the server is shutting down").failure();
    }
    exchange.response().getHeaders().put("X-Accel-Buffering", "no"); // no buffer in nginx
    if (exchange.request().http().getMethod().equals("HEAD")) {
      exchange.send(200, MEDIA_TYPE, new byte[0]);
    } else {
      new Connected(exchange, scope, types).begin(query.text("namespace"));
    }
  }

  /** {@return the end of a stream, to run once; refuses a stream over the limit or a quota} */
  private Runnable place(Exchange exchange, @Nullable String namespace) {
    String client = exchange.request().client();
    String reached = limit.take(client);
    if (reached != null) {
      throw Problem.of(429, "too_many_streams", "too many open streams (" + reached + ")")
          .header("Retry-After", "5")
          .failure();
    }
    try {
      Runnable quota = exchange.quotas().stream(exchange.request().caller(), namespace);
      return () -> {
        limit.release(client);
        quota.run();
      };
    } catch (RuntimeException e) {
      limit.release(client);
      throw e;
    }
  }

  private static Set<Topic> types(List<String> names) {
    if (names.isEmpty()) {
      return EnumSet.allOf(Topic.class);
    }
    Set<Topic> types = EnumSet.noneOf(Topic.class);
    for (String name : names) {
      types.add(
          EnumSet.allOf(Topic.class).stream()
              .filter(type -> Json.name(type).equals(name))
              .findAny()
              .orElseThrow(() -> Query.wrong("types", name, "stats, timer, cluster, dropped")));
    }
    return types;
  }

  /** A stream and its connection. */
  private final class Connected implements EventStream.Out {
    private final Exchange exchange;
    private final EventStream stream;
    private final HangupWatch hangup;
    private Runnable place = () -> {};
    private boolean ended;

    /** True if the next count sends figures to this stream. */
    private volatile boolean statsDue;

    Connected(Exchange exchange, Scope scope, Set<Topic> types) {
      this.exchange = exchange;
      stream =
          new EventStream(
              scope, types, node.feed(), this, exchange.request().header("Last-Event-ID"));
      // Asynchronous, because HangupWatch must not wait for a stream that waits for it.
      Executor executor = exchange.request().http().getComponents().getExecutor();
      EofException left = new EofException("the client disconnected");
      hangup =
          new HangupWatch(
              exchange.request().http(), () -> executor.execute(() -> stream.abort(left)));
    }

    /** Begins the stream; throws if it is over the limit or a quota. */
    void begin(@Nullable String namespace) {
      exchange.response().getHeaders().put(HttpHeader.CONTENT_TYPE, MEDIA_TYPE);
      place = place(exchange, namespace); // the end of the stream returns it, even after a failure
      try {
        if (exchange.begin(200)) {
          open();
        } else { // already answered
          place.run();
        }
      } catch (RuntimeException | Error e) {
        stream.abort(e);
      }
    }

    private void open() {
      streams.add(this);
      hangup.watch();
      stream.begin();
      statsDue = true;
      requestFigures(exchange.request().http().getComponents().getExecutor());
      if (draining) {
        stream.end();
      }
    }

    @Override
    public void write(byte[] chunk, Callback written) {
      exchange.write(chunk, written);
    }

    @Override
    public void end() {
      if (isFirst()) {
        exchange.callback().succeeded();
      }
    }

    @Override
    public void abort(Throwable failure) {
      if (isFirst()) {
        exchange.callback().failed(failure);
        exchange.request().http().getConnectionMetaData().getConnection().getEndPoint().close();
      }
    }

    private boolean isFirst() {
      boolean first = !ended;
      ended = true;
      if (first) {
        hangup.release();
        place.run();
      }
      streams.remove(this); // last, so that a stream that is not counted holds no place
      return first;
    }
  }

  /** Sends new events. Called ten times a second. */
  public void pulse() {
    FeedSlices slices = new FeedSlices(node.feed());
    streams.forEach(each -> each.stream.pulse(slices));
  }

  /**
   * Ends the streams of removed tokens, and starts the count of the figures. Called once a second.
   *
   * @param executor runs the query of the store, which may be slow; the pulse must not wait for it
   */
  public synchronized void second(Executor executor) {
    streams.stream()
        .filter(each -> !each.exchange.isStillAdmitted())
        .forEach(each -> each.stream.end());
    if (!streams.isEmpty()) {
      streams.forEach(each -> each.statsDue = true);
      clusterDue = true;
      requestFigures(executor);
    }
  }

  private void requestFigures(Executor executor) {
    if (requested.getAndIncrement() == 0) {
      try {
        executor.execute(this::countUntilServed);
      } catch (RejectedExecutionException e) {
        requested.set(0); // the next second requests them again, unless the server is closing
      }
    }
  }

  /** Counts once for all streams that were opened during the previous count. */
  private void countUntilServed() {
    int served;
    do {
      served = requested.get();
      count();
    } while (!requested.compareAndSet(served, 0));
  }

  private void count() {
    try {
      if (clusterDue) {
        clusterDue = false;
        tellCluster();
      }
      Map<Scope, byte[]> figures = new HashMap<>();
      for (Connected each : streams) {
        EventStream stream = each.stream;
        if (each.statsDue && stream.tells(Topic.STATS)) {
          each.statsDue = false;
          stream.stats(figures.computeIfAbsent(stream.scope(), this::figures));
        }
      }
    } catch (RuntimeException | Error e) {
      LOG.warn("the figures for event streams cannot be read", e);
    }
  }

  private byte[] figures(Scope scope) {
    return Json.bytes(stats.answer(reads, scope, false));
  }

  private void tellCluster() {
    byte[] nodes;
    try {
      nodes = Json.bytes(cluster.answer());
    } catch (StoreException e) {
      return; // the figures report that the store does not answer
    }
    if (!Arrays.equals(nodes, lastCluster)) {
      lastCluster = nodes;
      streams.stream()
          .map(each -> each.stream)
          .filter(stream -> stream.tells(Topic.CLUSTER))
          .forEach(stream -> stream.cluster(nodes));
    }
  }

  /** Ends all streams, present and future ones. */
  public void drain() {
    draining = true;
    streams.forEach(each -> each.stream.end());
  }
}
