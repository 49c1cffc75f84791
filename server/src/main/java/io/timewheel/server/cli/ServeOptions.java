// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import ch.qos.logback.core.util.FileSize;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.server.failure.FailureEvents;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.LogOutput;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.settings.TlsFiles;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.server.store.BackupSchedule;
import io.timewheel.server.store.StoreLocation;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.ConfiguredSecret;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.WebhookSecrets;
import io.timewheel.server.webhook.WebhookTarget;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The settings of a server, as the command line, the environment or the file has them. */
public final class ServeOptions {
  private static final Duration MAX_DRAIN_DELAY = Duration.ofHours(1);

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port; 0 for a free one (${DEFAULT-VALUE}).",
      defaultValue = "" + ServerConfig.DEFAULT_PORT,
      converter = PortConverter.class)
  private int port;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "The address to listen on (${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  private String listen = "127.0.0.1";

  @Option(
      names = "--host",
      paramLabel = "NAME",
      split = ",",
      description = "A name that clients call this server by, besides loopback names; repeatable.")
  private Set<String> hosts = new HashSet<>();

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "The certificate chain in PEM, for https; needs --tls-key.")
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The private key of --tls-cert in PEM, without a passphrase.")
  private @Nullable Path tlsKey;

  @Option(
      names = "--base-path",
      paramLabel = "PATH",
      description = "The path in front of all others, such as /timers (default: none).",
      converter = BasePathConverter.class)
  private String basePath = "";

  @Option(
      names = "--trusted-proxy",
      paramLabel = "CIDR",
      split = ",",
      description = "Proxies whose X-Forwarded-For header is honoured; repeatable.",
      converter = CidrConverter.class)
  private List<Cidr> trustedProxies = new ArrayList<>();

  @Option(
      names = "--drain-delay",
      paramLabel = "DURATION",
      description =
          "On SIGTERM, answer /readyz 503 but serve this long (${DEFAULT-VALUE}, at most PT1H).",
      defaultValue = "PT0S")
  private Duration drainDelay = Duration.ZERO;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Where the timers are kept (${DEFAULT-VALUE}).",
      defaultValue = "./timewheel-data")
  private Path data = Path.of("timewheel-data");

  @Mixin private DatabaseOptions database = new DatabaseOptions();

  @Option(
      names = "--observe",
      description =
          "Own no shards and call no URLs; serve the API and console (needs --store). Queues work.")
  private boolean observe;

  @Option(
      names = "--tokens",
      paramLabel = "FILE",
      description = "The tokens that let a caller in, as `timewheel tokens create` makes them.")
  private @Nullable Path tokens;

  @Option(
      names = "--webhook-secrets",
      paramLabel = "FILE",
      description =
          "Secrets that sign webhook requests and fill their headers, one per line; without it no"
              + " URL is called.")
  private @Nullable Path webhookSecrets;

  @Option(
      names = "--failed-webhook",
      paramLabel = "URL",
      description = "Post an event for timers that fail (needs --failed-secret).")
  private @Nullable String failedWebhook;

  @Option(
      names = "--failed-secret",
      paramLabel = "NAME",
      description = "Sign these events by this secret of --webhook-secrets.")
  private @Nullable String failedSecret;

  @Option(
      names = "--limits",
      paramLabel = "FILE",
      description =
          "Limits of queues, hosts and namespaces in the whole cluster; read again when it"
              + " changes.")
  private @Nullable Path limits;

  @Option(
      names = "--allow-target",
      paramLabel = "CIDR",
      split = ",",
      description = "Admit webhook targets in these private addresses; repeatable.",
      converter = CidrConverter.class)
  private List<Cidr> allowedTargets = new ArrayList<>();

  @Option(
      names = "--insecure",
      description = "Listens on another address than loopback though nobody has to show a token.")
  private boolean insecure;

  @Option(
      names = "--store-timeout",
      paramLabel = "DURATION",
      description = "Answer 503 if the store takes longer (default: PT10S, PT1S to PT5M).",
      converter = StoreTimeoutConverter.class)
  private Duration storeTimeout = WorkLimits.STORE_TIMEOUT;

  @Option(
      names = "--backup-every",
      paramLabel = "DURATION",
      description = "Back up DIR each time this has passed (default: never, min: 1m).")
  private @Nullable Duration backupEvery;

  @Option(
      names = "--backup-keep",
      paramLabel = "N",
      description = "Keep this many scheduled backups (default: ${DEFAULT-VALUE}).",
      defaultValue = "8")
  private int backupKeep = 8;

  @Option(
      names = "--retain",
      paramLabel = "DURATION",
      description = "Retain finished timers this long (default: ${DEFAULT-VALUE}).",
      defaultValue = "PT24H")
  private Duration retain = Duration.ofHours(24);

  @Option(
      names = "--retain-max",
      paramLabel = "N",
      description = "Retain at most this many finished timers (default: ${DEFAULT-VALUE}).",
      defaultValue = "1000000")
  private long retainMax = 1_000_000;

  @Option(
      names = "--overdue-rate",
      paramLabel = "N",
      description = "Fire this many overdue timers per second (default: ${DEFAULT-VALUE}).",
      defaultValue = "10000")
  private int overdueRate = 10_000;

  @Option(
      names = "--max-waiting-claims",
      paramLabel = "N",
      description = "Limit waiting claims of this node (default: ${DEFAULT-VALUE}).",
      defaultValue = "12000")
  private int maxWaitingClaims = 12_000;

  @Option(
      names = "--max-streams",
      paramLabel = "N",
      description = "Limit event streams of this node (default: ${DEFAULT-VALUE}).",
      defaultValue = "2000")
  private int maxStreams = 2_000;

  @Option(
      names = "--log-format",
      paramLabel = "FORM",
      description = "${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}), on standard error.",
      defaultValue = "text")
  private LogOutput.Form logFormat = LogOutput.Form.text;

  @Option(
      names = "--audit-log",
      paramLabel = "FILE",
      description = "Where to record who changed what, instead of standard error.")
  private @Nullable Path auditLog;

  @Option(
      names = "--audit-log-size",
      paramLabel = "SIZE",
      description = "Limit all files of the audit log (default: ${DEFAULT-VALUE}, min: 1MB).",
      defaultValue = LogOutput.AUDIT_SIZE,
      converter = SizeConverter.class)
  private FileSize auditLogSize = FileSize.valueOf(LogOutput.AUDIT_SIZE);

  /**
   * {@return the secrets that sign calls of URLs; null if none are called}
   *
   * @throws IOException if the file cannot be used
   */
  public @Nullable WebhookSecrets webhookSecrets() throws IOException {
    return webhookSecrets == null ? null : WebhookSecrets.open(webhookSecrets);
  }

  /**
   * {@return the target of events about failed timers; null if there are none}
   *
   * @param secrets the secrets of the server
   * @throws IOException if an option is missing, or is malformed
   */
  public @Nullable WebhookTarget failedWebhook(SecretSource secrets) throws IOException {
    if (failedWebhook == null && failedSecret == null) {
      return null;
    }
    if (failedWebhook == null || failedSecret == null) {
      throw new IOException("--failed-webhook and --failed-secret need each other");
    }
    WebhookTarget target;
    try {
      target =
          new WebhookTarget(
              WebhookTarget.parseUrl(failedWebhook),
              failedSecret,
              Map.of(),
              WebhookTarget.DEFAULT_TIMEOUT);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          String.valueOf(e.getMessage()).replace("target.url", "--failed-webhook"), e);
    }
    ConfiguredSecret secret = secrets.find(failedSecret);
    if (secret == null
        || secret.keys().isEmpty()
        || !secret.admits(FailureEvents.NAMESPACE, target.host())) {
      throw new IOException(
          "--failed-secret: no secret to sign with (expected: a name in --webhook-secrets, for the"
              + " namespace "
              + FailureEvents.NAMESPACE
              + " and the host of --failed-webhook)");
    }
    return target;
  }

  /**
   * {@return the limits of queues, webhook hosts and namespaces}
   *
   * @throws IOException if the file cannot be used
   */
  public Limits limits() throws IOException {
    try {
      return limits == null ? Limits.none() : Limits.open(limits);
    } catch (IOException e) {
      throw new IOException("--limits: " + limits + ": " + Timewheel.reason(e), e);
    }
  }

  public AddressPolicy addressPolicy() {
    return AddressPolicy.admitting(allowedTargets);
  }

  /** {@return whether the server owns no shards and calls no URLs} */
  public boolean observe() {
    return observe;
  }

  /**
   * Directs the logs of the process.
   *
   * @throws IOException if the file of the audit log cannot be written
   */
  public void directLogs() throws IOException {
    LogOutput.direct(logFormat, auditLog, auditLogSize);
  }

  /** {@return the schedule of backups; null if there is none} */
  public BackupSchedule.@Nullable Plan backupPlan() {
    Duration every = backupEvery;
    if (every == null) {
      return null;
    }
    if (every.compareTo(Duration.ofMinutes(1)) < 0) {
      throw new IllegalArgumentException(
          "--backup-every: " + every + " is too short (minimum: PT1M)");
    }
    if (backupKeep < 1) {
      throw new IllegalArgumentException(
          "--backup-keep: " + backupKeep + " is too few (minimum: 1)");
    }
    return new BackupSchedule.Plan(every, backupKeep);
  }

  /** Gives the retention and the rate of overdue timers to a scheduler. */
  public void applyTo(DurableTimerBuilder builder) {
    builder.remember(retain, retainMax).overdueRate(overdueRate);
  }

  /** {@return the place of the timers} */
  public StoreLocation store() {
    return new StoreLocation(data, database.database());
  }

  /** Reads the number of a port. */
  private static final class PortConverter implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      try {
        int number = Integer.parseInt(text.strip());
        if (number >= 0 && number <= Settings.MAX_PORT) {
          return number;
        }
      } catch (NumberFormatException e) {
        // refused below, as any other
      }
      throw new TypeConversionException(text + " (expected: 0 to " + Settings.MAX_PORT + ")");
    }
  }

  /** Reads a number of bytes. */
  private static final class SizeConverter implements ITypeConverter<FileSize> {
    @Override
    public FileSize convert(String text) {
      try {
        return FileSize.valueOf(text.strip());
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(text + " (expected: such as 500MB or 1GB)");
      }
    }
  }

  /** Reads a path in front of others. */
  private static final class BasePathConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      try {
        return new Ingress(text.strip(), List.of(), null).basePath();
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads the store timeout. */
  private static final class StoreTimeoutConverter implements ITypeConverter<Duration> {
    private static final Duration MIN = Duration.ofSeconds(1);
    private static final Duration MAX = Duration.ofMinutes(5);

    @Override
    public Duration convert(String text) {
      try {
        Duration timeout = Duration.parse(text.strip());
        if (timeout.compareTo(MIN) >= 0 && timeout.compareTo(MAX) <= 0) {
          return timeout;
        }
      } catch (DateTimeParseException e) {
        // refused below, as any other
      }
      throw new TypeConversionException(text + " (expected: " + MIN + " to " + MAX + ")");
    }
  }

  /** Reads a block of addresses. */
  private static final class CidrConverter implements ITypeConverter<Cidr> {
    @Override
    public Cidr convert(String text) {
      try {
        return Cidr.parse(text.strip());
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /**
   * {@return how long the server serves after it was told to end}
   *
   * @throws IOException if that is out of range
   */
  public Duration drainDelay() throws IOException {
    if (drainDelay.isNegative() || drainDelay.compareTo(MAX_DRAIN_DELAY) > 0) {
      throw new IOException(
          "--drain-delay: " + drainDelay + " (expected: PT0S to " + MAX_DRAIN_DELAY + ")");
    }
    return drainDelay;
  }

  private @Nullable TlsFiles tls() throws IOException {
    if (tlsCert == null && tlsKey == null) {
      return null;
    }
    if (tlsCert == null || tlsKey == null) {
      throw new IOException(
          (tlsKey == null ? "--tls-key" : "--tls-cert")
              + ": is missing (expected: --tls-cert and --tls-key together)");
    }
    TlsFiles files = new TlsFiles(tlsCert, tlsKey);
    var unused = files.read(); // a bad pair is refused before the port is opened
    return files;
  }

  /** {@return whether tokens reach this server in clear, where others can read them} */
  public boolean sendsTokensInClear() throws IOException {
    return tokens != null && tlsCert == null && !isLoopback();
  }

  private boolean isLoopback() throws IOException {
    return InetAddress.getByName(listen).isLoopbackAddress();
  }

  /**
   * {@return the address and the limits of the server}
   *
   * @throws IOException if the certificate of the port cannot be used
   */
  public ServerConfig config() throws IOException {
    ServerConfig loopback = ServerConfig.loopback(port);
    Set<String> names = new HashSet<>();
    hosts.forEach(host -> names.add(host.strip().toLowerCase(Locale.ROOT)));
    return new ServerConfig(
        listen,
        port,
        names,
        new Ingress(basePath, trustedProxies, tls()),
        loopback.maxConnections(),
        maxWaitingClaims,
        maxStreams,
        loopback.maxBodyBytes(),
        loopback.maxBodyTime(),
        loopback.work().withStoreTimeout(storeTimeout));
  }

  /**
   * {@return the tokens that let a caller in; null if everyone is let in}
   *
   * @throws IOException if that must not be, or the file cannot be used
   */
  public @Nullable Tokens tokens() throws IOException {
    if (tokens != null) {
      return Tokens.open(tokens);
    }
    if (insecure || isLoopback()) {
      return null;
    }
    throw new IOException(
        "--listen "
            + listen
            + " reaches beyond this machine, and there are no --tokens;"
            + " --insecure would let everybody in");
  }
}
