// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.LagHistogram;
import io.timewheel.durable.QueueInfo;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.micrometer.DurableTimerMetrics;
import io.timewheel.micrometer.JdbcStoreMetrics;
import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.http.Work;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.LagCounts;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.Target;
import io.timewheel.server.node.WatchedStore;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Authorization;
import io.timewheel.server.security.Role;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreProbe;
import io.timewheel.server.store.StoreReads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/**
 * Serves the metrics of this node to Prometheus. A scrape reads the counts of the store once. If
 * the store does not answer, the metrics that need it are absent.
 */
public final class MetricsResource implements AutoCloseable {
  private static final String MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";
  private static final String PREFIX = "timewheel.";
  private static final int QUEUE_PAGE = 10_000;

  /** The number of queues with metrics. Queues that have been ready for longest come first. */
  static final int MAX_QUEUES = 200;

  private final StoreReads reads;
  private final StoreProbe probe;
  private final Node node;
  private final PrometheusMeterRegistry registry;
  private final JvmGcMetrics gc = new JvmGcMetrics();
  private final MultiGauge timers;
  private final MultiGauge queueReady;
  private final MultiGauge queueOldest;
  private final MultiGauge queuesHidden;
  private boolean bound;

  /**
   * Creates the metrics of a node in a registry, in which other parts of the server measure their
   * own work.
   */
  public MetricsResource(
      PrometheusMeterRegistry registry,
      StoreReads reads,
      StoreProbe probe,
      Node node,
      IntSupplier waitingClaims,
      LongAdder failedBackups,
      AuditLog audit,
      BooleanSupplier tokensReadable) {
    this.registry = registry;
    this.reads = reads;
    this.probe = probe;
    this.node = node;
    registry
        .config()
        .meterFilter(MeterFilter.denyNameStartsWith("system."))
        .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time")) // its unit is abbreviated
        // This class has metrics of its own for them: for queues too, and by its probe.
        .meterFilter(MeterFilter.denyNameStartsWith("timewheel.durable.store.available"))
        .meterFilter(MeterFilter.denyNameStartsWith("timewheel.durable.lag"))
        .meterFilter(MeterFilter.denyNameStartsWith("timewheel.durable.timers"));
    List.of(
            new ClassLoaderMetrics(),
            new JvmMemoryMetrics(),
            gc,
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new UptimeMetrics(),
            new FileDescriptorMetrics())
        .forEach(binder -> binder.bindTo(registry));
    timers =
        MultiGauge.builder(PREFIX + "timers")
            .description("Timers in the store by their state")
            .register(registry);
    queueReady =
        MultiGauge.builder(PREFIX + "queue.ready")
            .description("Due timers of a queue that no consumer has claimed")
            .register(registry);
    queueOldest =
        MultiGauge.builder(PREFIX + "queue.oldest.ready")
            .description("Time since the longest ready timer of a queue became ready")
            .baseUnit("seconds")
            .register(registry);
    queuesHidden =
        MultiGauge.builder(PREFIX + "queues.hidden")
            .description("Queues with ready timers that the metrics of queues leave out")
            .register(registry);
    Gauge.builder(PREFIX + "waiting.claims", waitingClaims::getAsInt)
        .description("Claims that wait for a firing")
        .register(registry);
    Gauge.builder(PREFIX + "store.available", () -> probe.isAvailable() ? 1 : 0)
        .description("1 if the store is available, otherwise 0")
        .register(registry);
    FunctionCounter.builder(PREFIX + "failed.backups", failedBackups, LongAdder::sum)
        .description("Failed attempts to make a scheduled backup")
        .register(registry);
    FunctionCounter.builder(PREFIX + "audit.lost", audit, AuditLog::lost)
        .description("Lines of the audit log that could not be written")
        .register(registry);
    Gauge.builder(PREFIX + "tokens.readable", () -> tokensReadable.getAsBoolean() ? 1 : 0)
        .description("0 if the file of tokens cannot be read, otherwise 1")
        .register(registry);
    String version = Node.version();
    Gauge.builder(PREFIX + "build.info", () -> 1)
        .description("The version of the server")
        .tag("version", version == null ? "unknown" : version)
        .tag("java", System.getProperty("java.version"))
        .register(registry);
    attempts("succeeded", node.traffic().succeeded);
    attempts("failed", node.traffic().failed);
    registry.getPrometheusRegistry().register((Collector) this::lag);
  }

  public void addTo(Router router) {
    router.read(Route.of("GET", "/metrics", Role.METRICS).with(Work.SCRAPE), this::metrics);
  }

  private void attempts(String result, LongAdder count) {
    FunctionCounter.builder(PREFIX + "attempts", count, LongAdder::sum)
        .description("Attempts that have ended, by result")
        .tag("result", result)
        .register(registry);
  }

  private void metrics(Exchange exchange) {
    exchange.request().query();
    Authorization.checkAllNamespaces(
        exchange.request().caller()); // it contains the queues of all namespaces
    exchange.send(200, MEDIA_TYPE, scrape().getBytes(StandardCharsets.UTF_8));
  }

  private String scrape() {
    DurableTimer timer = reads.timer();
    Counted counted = probe.isAnswering() ? count() : null; // a scrape does not wait for an outage
    return scrape(timer, counted);
  }

  private synchronized String scrape(DurableTimer timer, @Nullable Counted counted) {
    bind(timer);
    timers.register(counted == null ? List.of() : rows(counted.states), true);
    queues(counted == null ? null : counted.ready);
    return registry.scrape();
  }

  /** The counts that a scrape reads from the store. */
  private record Counted(Map<TimerState, Long> states, List<QueueInfo> ready) {}

  private @Nullable Counted count() {
    try {
      return new Counted(reads.states(Scope.ALL), readyQueues());
    } catch (DurableTimerException e) {
      if (e.reason() == DurableTimerException.Reason.STORE_UNAVAILABLE) {
        return null; // timewheel_store_available is 0
      }
      throw e;
    }
  }

  /** {@return the queues with ready timers; those that have been ready for longest first} */
  private List<QueueInfo> readyQueues() {
    List<QueueInfo> ready = new ArrayList<>();
    List<QueueInfo> page = List.of();
    do {
      QueueInfo last = page.isEmpty() ? null : page.get(page.size() - 1);
      TimerKey after = last == null ? null : new TimerKey(last.namespace(), last.name());
      page = reads.ask(timer -> timer.queues(null, after, QUEUE_PAGE));
      page.stream().filter(queue -> queue.oldestReadyAt().isPresent()).forEach(ready::add);
    } while (page.size() == QUEUE_PAGE);
    ready.sort(Comparator.comparing(queue -> queue.oldestReadyAt().orElseThrow()));
    return ready;
  }

  private void queues(@Nullable List<QueueInfo> ready) {
    List<MultiGauge.Row<?>> counts = new ArrayList<>();
    List<MultiGauge.Row<?>> ages = new ArrayList<>();
    List<MultiGauge.Row<?>> hidden = new ArrayList<>();
    if (ready != null) {
      Instant now = reads.timer().now();
      for (QueueInfo queue : ready.subList(0, Math.min(MAX_QUEUES, ready.size()))) {
        Tags tags = Tags.of("namespace", queue.namespace(), "queue", queue.name());
        Duration age = Duration.between(queue.oldestReadyAt().orElseThrow(), now);
        counts.add(MultiGauge.Row.of(tags, queue.ready()));
        ages.add(MultiGauge.Row.of(tags, Math.max(0, age.toMillis() / 1_000.0)));
      }
      hidden.add(MultiGauge.Row.of(Tags.empty(), Math.max(0, ready.size() - MAX_QUEUES)));
    }
    queueReady.register(counts, true);
    queueOldest.register(ages, true);
    queuesHidden.register(hidden, true);
  }

  private static List<MultiGauge.Row<?>> rows(Map<TimerState, Long> states) {
    List<MultiGauge.Row<?>> rows = new ArrayList<>();
    for (TimerState state : TimerState.values()) {
      rows.add(
          MultiGauge.Row.of(Tags.of("state", Json.name(state)), states.getOrDefault(state, 0L)));
    }
    return rows;
  }

  private void bind(DurableTimer timer) {
    if (!bound) {
      bound = true;
      new DurableTimerMetrics(timer, "server").bindTo(registry);
      WatchedStore store = node.store();
      JdbcTimerStore shared = store == null ? null : store.shared();
      if (shared != null) {
        new JdbcStoreMetrics(shared, "server").bindTo(registry);
      }
    }
  }

  private HistogramSnapshot lag() {
    double[] bounds =
        DoubleStream.concat(
                LagHistogram.bounds().stream().mapToDouble(bound -> bound.toMillis() / 1_000.0),
                DoubleStream.of(Double.POSITIVE_INFINITY))
            .toArray();
    HistogramSnapshot.Builder histogram =
        HistogramSnapshot.builder()
            .name("timewheel_lag_seconds")
            .help("Time from due until the attempt starts, or the timer is ready in its queue");
    Arrays.stream(Target.values())
        .forEach(
            target -> {
              LagCounts lag = node.lag(target);
              histogram.dataPoint(
                  HistogramDataPointSnapshot.builder()
                      .classicHistogramBuckets(ClassicHistogramBuckets.of(bounds, lag.counts()))
                      .sum(lag.sumSeconds())
                      .labels(Labels.of("target", Json.name(target)))
                      .build());
            });
    return histogram.build();
  }

  @Override
  public void close() {
    gc.close(); // stop listening to the JVM
  }
}
