// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.TimewheelServer;
import io.timewheel.server.failure.FailureEvents;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.store.StoreLocation;
import io.timewheel.server.webhook.HostLimits;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.WebhookClient;
import io.timewheel.server.webhook.WebhookHandler;
import io.timewheel.server.webhook.WebhookSecrets;
import io.timewheel.server.webhook.WebhookTarget;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

/** Runs the server until the process is told to stop. */
@Command(
    name = "serve",
    description = "Run the server.",
    footer = {
      "  timewheel serve",
      "  timewheel serve --port 8080 --data /var/lib/timewheel",
      "  timewheel serve --store jdbc:postgresql://db.example/timewheel \\",
      "      --store-user timewheel",
      "  timewheel serve --observe --store jdbc:postgresql://db.example/timewheel",
      "  timewheel serve --listen 0.0.0.0 --host timers.example \\",
      "      --tokens /etc/timewheel/tokens",
      "  timewheel serve --webhook-secrets /etc/timewheel/webhook-secrets \\",
      "      --allow-target 10.1.2.0/24",
      "  timewheel serve --listen 0.0.0.0 --tokens /etc/timewheel/tokens \\",
      "      --tls-cert /etc/timewheel/tls.crt --tls-key /etc/timewheel/tls.key"
    })
public final class ServeCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);
  private static final int CHANGES_IN_WAIT = 50_000;
  private static final Duration HTTP_TIMEOUT = Duration.ofSeconds(6);
  private static final Duration TIMER_TIMEOUT = Duration.ofSeconds(10);

  /**
   * The longest time for the close of the store. Each connection to a database that does not answer
   * can block for longer.
   */
  private static final Duration STORE_CLOSE_TIMEOUT = Duration.ofSeconds(20);

  @Spec private @Nullable CommandSpec spec;

  @Mixin private ServeOptions options = new ServeOptions();

  @Override
  public Integer call() throws IOException, InterruptedException {
    checkStore();
    options.check();
    options.logs.direct();
    AuditLog audit = options.logs.audit();
    Tokens tokens = options.network.tokens();
    WebhookSecrets secrets = options.webhooks.secrets();
    SecretSource source = secrets == null ? SecretSource.NONE : secrets;
    ServerConfig config = options.config();
    Duration drainDelay = options.network.drainDelay;
    Limits limits = options.limits.ofFile();
    if (options.network.sendsTokensInClear()) {
      LOG.warn(
          "Tokens are sent in clear text to {}: set --tls-cert and --tls-key, or listen on"
              + " loopback behind a proxy with TLS",
          config.url(config.port()));
    }
    WebhookTarget failedWebhook = options.webhooks.failedWebhook(source);
    StoreLocation location = options.store.location();
    TimewheelServer server;
    try {
      server = TimewheelServer.start(config, tokens, source, limits, InstantSource.system(), audit);
    } catch (IOException e) {
      throw refused(
          "cannot listen on %s:%d: %s"
              .formatted(
                  config.listen(),
                  config.port(),
                  CommandException.reason(
                      e.getCause() == null ? e : e.getCause()))); // Address already in use
    }
    FailureEvents failures =
        failedWebhook == null ? null : new FailureEvents(failedWebhook, InstantSource.system());
    DurableTimer timer;
    try {
      timer = open(server, location, limits, secrets, failures);
    } catch (IOException
        | RuntimeException e) { // the process exits and closes the server, which is not an error
      throw refused(
          "cannot open the store in %s: %s".formatted(location.name(), CommandException.reason(e)));
    }
    server.serve(timer, location.readsAtATime());
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> drain(server, timer, failures, drainDelay), "timewheel-stop"));
    System.out.println("Timewheel ready on " + config.url(server.port()));
    System.out.flush();
    new CountDownLatch(1).await(); // the shutdown hook ends the process
    return 0;
  }

  /**
   * Refuses two stores on the command line, and options that the store does not support. Settings
   * may name a directory too, because other commands may need it.
   */
  private void checkStore() {
    ParseResult parsed = requireNonNull(spec).commandLine().getParseResult();
    StoreLocation location = options.store.location();
    if (parsed.hasMatchedOption("--data") && parsed.hasMatchedOption("--store")) {
      throw wrongUsage("--data and --store exclude each other (expected: one of them)");
    }
    if (options.store.observe && location.database() == null) {
      throw wrongUsage(
          "--observe: the store in %s has one owner, which fires its timers (expected: --store,"
                  .formatted(location.data())
              + " a database that nodes share)");
    }
    if (options.backups.plan() != null && location.database() != null) {
      throw wrongUsage(
          "--backup-every: %s is a database (expected: its own backups, such as pg_dump)"
              .formatted(location.name()));
    }
  }

  private ParameterException wrongUsage(String message) {
    return new ParameterException(requireNonNull(spec).commandLine(), message);
  }

  /**
   * Opens the timer. Without secrets, the server calls no URL: webhook timers that become due are
   * blocked.
   */
  private DurableTimer open(
      TimewheelServer server,
      StoreLocation location,
      Limits limits,
      @Nullable WebhookSecrets secrets,
      @Nullable FailureEvents failures)
      throws IOException {
    InstantSource clock = InstantSource.system();
    TimerStore opened = location.open();
    if (opened instanceof RocksTimerStore embedded) {
      server.backups(location.data(), embedded, options.backups.plan());
    }
    TimerStore watched = server.watch(location.kind(), opened);
    if (failures != null) {
      watched = failures.watch(watched);
    }
    DurableTimerBuilder builder =
        options.store.observe ? DurableTimer.client(watched) : DurableTimer.builder(watched);
    builder.queueCapacity(CHANGES_IN_WAIT, true);
    builder.queueLimits(queue -> limits.queue(queue.namespace(), queue.id()));
    HostLimits hosts = new HostLimits(limits);
    WebhookClient client = null;
    options.limits.applyTo(builder);
    if (secrets != null && !options.store.observe) {
      client = WebhookClient.start(options.webhooks.addressPolicy(), secrets, clock);
      new WebhookHandler(client, clock, server.meters(), hosts).addTo(builder);
    }
    DurableTimer timer = builder.start();
    hosts.serve(timer);
    if (failures != null) {
      failures.start(timer, client, location.database() != null);
    }
    return timer;
  }

  /**
   * Drains the server on SIGTERM. Without the halt, the JVM would exit with the number of the
   * signal.
   */
  private static void drain(
      TimewheelServer server,
      DurableTimer timer,
      @Nullable FailureEvents failures,
      Duration delay) {
    server.announceDrain();
    try {
      Thread.sleep(delay.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // the server then drains at once
    }
    new Thread(ServeCommand::haltAfterStoreCloseTimeout, "timewheel-close-timeout").start();
    int status = 0;
    try {
      server.close(HTTP_TIMEOUT);
    } catch (RuntimeException e) {
      status = failed("the server did not stop cleanly: " + CommandException.reason(e));
    }
    if (failures != null) {
      failures.close();
    }
    try {
      timer.close(TIMER_TIMEOUT);
    } catch (RuntimeException e) {
      status = failed("the store was not closed cleanly: " + CommandException.reason(e));
    }
    Runtime.getRuntime().halt(status);
  }

  private static void haltAfterStoreCloseTimeout() {
    try {
      Thread.sleep(STORE_CLOSE_TIMEOUT.toMillis());
    } catch (InterruptedException e) {
      return;
    }
    Runtime.getRuntime()
        .halt(failed("the store did not answer in time: the process exits without closing it"));
  }

  private static CommandException refused(String why) {
    return new CommandException(ExitCode.FAILED, why);
  }

  private static int failed(String why) {
    System.err.println("timewheel: " + why);
    return ExitCode.FAILED;
  }
}
