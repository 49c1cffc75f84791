// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.api.ClusterAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.document.ClusterView;
import io.timewheel.server.document.StatsView;
import io.timewheel.server.document.WheelView;
import io.timewheel.server.event.EventStream;
import io.timewheel.server.http.Connections;
import io.timewheel.server.http.HttpListener;
import io.timewheel.server.http.RequestPipeline;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.PeriodicWork;
import io.timewheel.server.resource.BackupResource;
import io.timewheel.server.resource.BatchResource;
import io.timewheel.server.resource.BulkResource;
import io.timewheel.server.resource.ConsoleResource;
import io.timewheel.server.resource.EventResource;
import io.timewheel.server.resource.HealthResource;
import io.timewheel.server.resource.LeaseResource;
import io.timewheel.server.resource.MetricsResource;
import io.timewheel.server.resource.PreviewResource;
import io.timewheel.server.resource.QueueListResource;
import io.timewheel.server.resource.QueueResource;
import io.timewheel.server.resource.TimerListResource;
import io.timewheel.server.resource.TimerResource;
import io.timewheel.server.resource.TimerVerbResource;
import io.timewheel.server.resource.ViewResource;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authenticator;
import io.timewheel.server.security.Quotas;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.store.BackupSchedule;
import io.timewheel.server.store.HistogramScans;
import io.timewheel.server.store.StoreProbe;
import io.timewheel.server.store.StoreReads;
import io.timewheel.server.webhook.SecretSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves a durable timer over HTTP. The server listens from {@link #start} on, and answers requests
 * once it has a timer to {@linkplain #serve serve}. {@link #close()} does not close that timer.
 */
public final class TimewheelServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TimewheelServer.class);

  private final HttpListener listener;
  private final Router router = new Router();
  private final PrometheusMeterRegistry meters =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Node node;
  private final StoreReads reads = new StoreReads();
  private final Connections connections;
  private final Quotas quotas;
  private final StoreProbe probe = new StoreProbe(reads, System::nanoTime);
  private final @Nullable Tokens tokens;
  private final AuditLog audit;
  private final HealthResource health;
  private final QueueResource queues;
  private final StatsView stats;
  private final ClusterView cluster;
  private final EventResource events;
  private final BackupResource backups;
  private final LongAdder failedBackups = new LongAdder();
  private final MetricsResource metrics;
  private final ScheduledExecutorService pulse =
      Executors.newSingleThreadScheduledExecutor(thread("timewheel-pulse"));
  private final ScheduledExecutorService prober =
      Executors.newSingleThreadScheduledExecutor(thread("timewheel-store-probe"));
  private final ExecutorService counter =
      Executors.newSingleThreadExecutor(thread("timewheel-wheel-counter"));
  private final ExecutorService scanners =
      Executors.newFixedThreadPool(HistogramScans.AT_A_TIME, thread("timewheel-histogram"));
  private final ScheduledExecutorService backupThread =
      Executors.newSingleThreadScheduledExecutor(thread("timewheel-backup"));
  private final InstantSource clock;
  private static final int SHARE_SECONDS = 5;
  private int seconds;

  private TimewheelServer(
      ServerConfig config,
      @Nullable Tokens tokens,
      SecretSource webhookSecrets,
      Limits limits,
      InstantSource clock,
      AuditLog audit)
      throws IOException {
    this.clock = clock;
    this.tokens = tokens;
    this.audit = audit;
    health =
        new HealthResource(
            probe,
            Map.of(
                "the audit log cannot be written",
                audit::isFailing,
                "the file of tokens cannot be read",
                () -> !isTokenFileReadable()));
    quotas = new Quotas(limits::quotas, System::nanoTime);
    connections = new Connections(config.maxConnections(), config.ingress().trustedProxies());
    listener =
        new HttpListener(
            config,
            connections,
            new RequestPipeline(
                config, router, new Authenticator(tokens), connections, meters, quotas, audit));
    node = new Node(clock, () -> config.urlHost() + ":" + port());
    queues = new QueueResource(reads::timer, config.maxWaitingClaims());
    stats = new StatsView(node);
    cluster = new ClusterView(node);
    events = new EventResource(reads, node, stats, cluster, config.maxStreams());
    backups = new BackupResource(clock);
    metrics =
        new MetricsResource(
            meters,
            reads,
            probe,
            node,
            queues::waiting,
            failedBackups,
            audit,
            this::isTokenFileReadable);
    addRoutes(webhookSecrets);
  }

  private boolean isTokenFileReadable() {
    return tokens == null || tokens.isReadable();
  }

  private void addRoutes(SecretSource webhookSecrets) {
    health.addTo(router);
    new ConsoleResource().addTo(router);
    new TimerResource(reads, webhookSecrets).addTo(router);
    new TimerVerbResource(reads).addTo(router);
    HistogramScans scans = new HistogramScans(reads, scanners);
    new TimerListResource(reads, scans, System::nanoTime).addTo(router);
    new BatchResource(reads, webhookSecrets).addTo(router);
    new BulkResource(reads, System::nanoTime).addTo(router);
    queues.addTo(router);
    new LeaseResource(reads).addTo(router);
    new QueueListResource(reads).addTo(router);
    new PreviewResource(reads).addTo(router);
    WheelView wheel = new WheelView(node, counter, System::nanoTime);
    new ViewResource(reads, stats, wheel, cluster).addTo(router);
    events.addTo(router);
    backups.addTo(router);
    metrics.addTo(router);
  }

  private static ThreadFactory thread(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Opens the port to all callers that can reach it. The API returns 503 until there is a timer to
   * serve.
   *
   * @throws IOException if the port cannot be opened, or the certificate cannot be used
   */
  public static TimewheelServer start(ServerConfig config) throws IOException {
    return start(config, null, SecretSource.NONE, InstantSource.system());
  }

  /**
   * Opens the port, with tokens and secrets.
   *
   * @param tokens the tokens that admit callers; null if every caller has all permissions
   */
  static TimewheelServer start(
      ServerConfig config,
      @Nullable Tokens tokens,
      SecretSource webhookSecrets,
      InstantSource clock)
      throws IOException {
    AuditLog audit = new AuditLog(System::nanoTime);
    return start(config, tokens, webhookSecrets, Limits.none(), clock, audit);
  }

  /** Opens the port, with limits of namespaces and an audit log. */
  public static TimewheelServer start(
      ServerConfig config,
      @Nullable Tokens tokens,
      SecretSource webhookSecrets,
      Limits limits,
      InstantSource clock,
      AuditLog audit)
      throws IOException {
    TimewheelServer server =
        new TimewheelServer(config, tokens, webhookSecrets, limits, clock, audit);
    server.listener.start();
    Duration pulse = Duration.ofSeconds(1).dividedBy(EventStream.PULSES_PER_SECOND);
    repeat(server.pulse, pulse, "the pulse of events", server.events::pulse);
    repeat(server.pulse, Duration.ofSeconds(1), "the work of each second", server::everySecond);
    repeat(server.prober, StoreProbe.PERIOD, "the probe of the store", server.probe::read);
    return server;
  }

  private static void repeat(
      ScheduledExecutorService thread, Duration period, String name, Runnable work) {
    long millis = period.toMillis();
    PeriodicWork repeated = new PeriodicWork(name, work);
    var unused = thread.scheduleWithFixedDelay(repeated, millis, millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Records the commits of a store, for the figures and the events of this server. Call this method
   * first, and then build the timer to {@linkplain #serve serve} on the returned store.
   */
  public TimerStore watch(String name, TimerStore store) {
    return node.watch(name, store);
  }

  /** Lets administrators copy the store while it is in use, and makes backups by a plan, if any. */
  public void backups(Path data, RocksTimerStore store, BackupSchedule.@Nullable Plan plan) {
    backups.serve(data, store::backup);
    if (plan != null) {
      BackupSchedule schedule = new BackupSchedule(data, plan, backups::copy, clock, failedBackups);
      var unused = backupThread.scheduleWithFixedDelay(schedule::run, 0, 1, TimeUnit.SECONDS);
    }
  }

  /** Serves a started timer from now on. */
  public void serve(DurableTimer started) {
    serve(started, Integer.MAX_VALUE);
  }

  /** Serves a timer, and limits the number of requests that read its store at a time. */
  public void serve(DurableTimer started, int readsAtATime) {
    reads.serve(started, readsAtATime);
    probe.read();
  }

  /** {@return the port that the server listens on} */
  public int port() {
    return listener.port();
  }

  /** {@return the registry, for the parts that measure their own work} */
  public MeterRegistry meters() {
    return meters;
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

  Quotas.Share quotaShare() {
    return quotas.share();
  }

  List<Route> routes() {
    return router.routes();
  }

  int openStreams() {
    return events.open();
  }

  /** Updates the number of live nodes, each of which has a share of the quotas. */
  private void shareQuotas() {
    try {
      List<ClusterAnswer.Node> alive =
          cluster.answer().nodes().stream().filter(ClusterAnswer.Node::alive).toList();
      List<String> ids = alive.stream().map(ClusterAnswer.Node::id).sorted().toList();
      int rank = ids.indexOf(node.id());
      if (rank >= 0) {
        quotas.share(new Quotas.Share(ids.size(), rank));
      }
    } catch (RuntimeException e) {
      LOG.debug("the live nodes are unknown: the shares of quotas are unchanged", e);
    }
  }

  /** Runs the tasks of each second. */
  void everySecond() {
    if (cluster.shared() != null && seconds++ % SHARE_SECONDS == 0) {
      counter.execute(this::shareQuotas);
    }
    quotas.refresh();
    audit.retry();
    var unused = isTokenFileReadable(); // without requests too, so that the grace begins
    if (reads.isServing()) {
      node.namespaceTraffic().sample(reads.timer().now());
      events.second(listener.executor());
    }
  }

  /** Reports the server as not ready from now on. It still serves requests. */
  public void announceDrain() {
    LOG.info("draining: /readyz answers 503 from now on");
    health.drain();
  }

  /** Closes the server, and waits up to five seconds for requests in progress. */
  @Override
  public void close() {
    close(Duration.ofSeconds(5));
  }

  /** Refuses new requests, waits this long for those in progress, and closes the server. */
  public void close(Duration shutdownTimeout) {
    LOG.info("stopping: no new requests are accepted");
    health.drain();
    queues.drain();
    events.drain();
    try {
      listener.stop(shutdownTimeout);
    } finally {
      pulse.shutdownNow();
      prober.shutdownNow();
      counter.shutdownNow();
      scanners.shutdownNow();
      backupThread.shutdown(); // a backup that has started is completed
      metrics.close();
    }
  }
}
