// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.Route.Role;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP API on a durable timer. It listens from {@link #start} on, answers once it was given a
 * timer to {@linkplain #serve serve}, and leaves that timer open when it is closed.
 */
public final class TimewheelServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TimewheelServer.class);
  private static final int MAX_THREADS = 64;
  private static final int MAX_HEADER_BYTES = 16 * 1024;

  /** The least that the pool hands out. */
  private static final int INPUT_BUFFER_BYTES = 4_096;

  /** Above the limit, to be told so; more are not accepted. */
  private static final int REFUSED_CONNECTIONS = 1_000;

  /** Longer than a claim may wait. */
  private static final Duration IDLE = Duration.ofSeconds(75);

  private final Server jetty;
  private final ServerConnector connector;
  private final Api api;
  private final Node node;
  private final FirstAnswers firstAnswers = new FirstAnswers();
  private final QueueResource queues;
  private final Connections connections;
  private final StatsView stats;
  private final ClusterView cluster;
  private final EventResource events;
  private final BackupResource backups;
  private final ScheduledExecutorService pulse =
      Executors.newSingleThreadScheduledExecutor(thread("timewheel-pulse"));
  private final ExecutorService counter =
      Executors.newSingleThreadExecutor(thread("timewheel-wheel-counter"));
  private int pulses;
  private final Reads reads = new Reads();
  private volatile boolean draining;

  private TimewheelServer(
      ServerConfig config,
      @Nullable Tokens tokens,
      Predicate<String> webhookSecrets,
      InstantSource clock) {
    QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, 4);
    threads.setName("timewheel-http");
    threads.setStopTimeout(1_000); // what was under way had its time before that
    jetty = new Server(threads);
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setRequestHeaderSize(MAX_HEADER_BYTES);
    // Paths are taken apart as they were sent, so that an encoded slash belongs to an id.
    http.setUriCompliance(UriCompliance.UNSAFE);
    // A claim that waits keeps the buffer of its body: thousands of them fit in the heap, and in
    // what is left beside it for direct buffers they would not.
    http.setUseInputDirectByteBuffers(false);
    http.setInputBufferSize(INPUT_BUFFER_BYTES);
    connector = new ServerConnector(jetty, 1, 1, new HttpConnectionFactory(http));
    connector.setHost(config.listen());
    connector.setPort(config.port());
    connector.setIdleTimeout(IDLE.toMillis());
    connector.setAcceptQueueSize(1_024);
    jetty.addConnector(connector);
    connections = new Connections(config.maxConnections());
    connector.addBean(connections);
    jetty.addBean(
        new NetworkConnectionLimit(config.maxConnections() + REFUSED_CONNECTIONS, connector));
    jetty.setErrorHandler(new Errors());
    node = new Node(clock, () -> address(config.listen()) + ":" + port());
    queues = new QueueResource(reads::timer, firstAnswers, config.maxWaitingClaims());
    stats = new StatsView(node);
    cluster = new ClusterView(node);
    events = new EventResource(reads, node, stats, cluster, config.maxStreams());
    backups = new BackupResource(clock);
    api = new Api(config, tokens, connections);
    addRoutes(webhookSecrets);
    jetty.setHandler(new GracefulHandler(api));
  }

  private void addRoutes(Predicate<String> webhookSecrets) {
    api.add(Route.of("GET", "/healthz", Role.OPEN, exchange -> state(exchange, 200, "ok")));
    api.add(Route.of("GET", "/readyz", Role.OPEN, this::ready));
    new ConsoleFiles().addTo(api);
    new TimerResource(reads, firstAnswers, webhookSecrets).addTo(api);
    new VerbResource(reads, firstAnswers).addTo(api);
    new ListResource(reads).addTo(api);
    new BatchResource(reads, webhookSecrets).addTo(api);
    new BulkResource(reads, firstAnswers).addTo(api);
    queues.addTo(api);
    WheelView wheel = new WheelView(node, counter, System::nanoTime);
    new ViewResource(reads, stats, wheel, cluster).addTo(api);
    events.addTo(api);
    backups.addTo(api);
  }

  private static ThreadFactory thread(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** {@return an address as it stands before a port} */
  static String address(String listen) {
    return listen.contains(":") ? "[" + listen + "]" : listen;
  }

  /**
   * Begins to listen, for everyone who can reach it; until there is a timer to serve, the API is
   * answered 503.
   *
   * @param config where, and within which limits
   * @return the server
   * @throws IOException if the port cannot be had
   */
  public static TimewheelServer start(ServerConfig config) throws IOException {
    return start(config, null, name -> false, InstantSource.system());
  }

  /**
   * Begins to listen, as a program does.
   *
   * @param tokens what lets a caller in; null if everyone may do everything
   * @param webhookSecrets whether calls can be signed by a name: targets may name no other
   */
  static TimewheelServer start(
      ServerConfig config,
      @Nullable Tokens tokens,
      Predicate<String> webhookSecrets,
      InstantSource clock)
      throws IOException {
    TimewheelServer server = new TimewheelServer(config, tokens, webhookSecrets, clock);
    try {
      server.connector.open();
      server.jetty.start();
      server.connections.watch(server.connector.getScheduler());
    } catch (IOException e) {
      server.connector.close();
      throw e;
    } catch (Exception e) {
      throw new IOException("the server did not start", e);
    }
    long millis = TimeUnit.SECONDS.toMillis(1) / EventStream.PULSES_PER_SECOND;
    var unused =
        server.pulse.scheduleWithFixedDelay(server::pulse, 0, millis, TimeUnit.MILLISECONDS);
    return server;
  }

  /**
   * Notes what a store commits, for the figures and the events that this server shows. Called
   * before the timer is made that is then {@linkplain #serve served}.
   *
   * @param name what kind of store it is, for people
   * @param store the store
   * @return the store to make the timer with
   */
  public TimerStore watch(String name, TimerStore store) {
    return node.watch(name, store);
  }

  /** Lets admins have a store copied while it is at work. */
  void backups(Path data, RocksTimerStore store) {
    backups.serve(data, store);
  }

  /**
   * Answers with a timer from now on.
   *
   * @param started the timer, started
   */
  public void serve(DurableTimer started) {
    serve(started, Integer.MAX_VALUE);
  }

  /** Answers with a timer, whose store is read by so many requests at a time. */
  void serve(DurableTimer started, int readsAtATime) {
    reads.serve(started, readsAtATime);
  }

  /** {@return the port that it listens on} */
  public int port() {
    return connector.getLocalPort();
  }

  Connections connections() {
    return connections;
  }

  int waitingClaims() {
    return queues.waiting();
  }

  int waitingReads() {
    return reads.waiting();
  }

  List<Route> routes() {
    return api.routes();
  }

  int openStreams() {
    return events.open();
  }

  /** What comes by itself: ten times a second the events, once a second the figures. */
  private void pulse() {
    try {
      if (pulses++ % EventStream.PULSES_PER_SECOND == 0) {
        second();
      }
      events.pulse();
    } catch (RuntimeException e) {
      LOG.error("the events are not sent, and are tried again", e);
    }
  }

  /** A second has passed. */
  void second() {
    if (reads.isServing()) {
      node.traffic.sample(reads.timer().now());
      events.second(jetty.getThreadPool());
    }
  }

  private void ready(Exchange exchange) {
    if (draining) {
      throw Problem.unavailable("the server is going down").failure();
    }
    if (!reads.timer().stats().storeAvailable()) {
      throw Problem.unavailable("the store does not answer").failure();
    }
    state(exchange, 200, "ready");
  }

  private static void state(Exchange exchange, int status, String text) {
    exchange.json(
        status,
        json -> {
          json.writeStartObject();
          json.writeStringProperty("status", text);
          json.writeEndObject();
        });
  }

  /** Closes it with a patience of five seconds for requests that are under way. */
  @Override
  public void close() {
    close(Duration.ofSeconds(5));
  }

  /**
   * Accepts nothing more, lets what is under way be answered, and goes away.
   *
   * @param patience how long to wait for requests that are under way
   */
  public void close(Duration patience) {
    draining = true;
    queues.drain();
    events.drain();
    jetty.setStopTimeout(Math.max(1, patience.toMillis()));
    try {
      jetty.stop();
    } catch (Exception e) {
      throw new IllegalStateException("the server did not stop in good order", e);
    } finally {
      pulse.shutdownNow();
      counter.shutdownNow();
    }
  }
}
