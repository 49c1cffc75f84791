// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.settings.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the address of a server, and for the callers that it admits. */
final class NetworkOptions {
  private static final Duration MAX_DRAIN_DELAY = Duration.ofHours(1);
  private static final Duration MAX_GRACE = Duration.ofDays(1);

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Listen on this port (default: ${DEFAULT-VALUE}, 0: a free port).",
      defaultValue = "" + ServerConfig.DEFAULT_PORT)
  int port;

  @Option(
      names = "--listen",
      paramLabel = "ADDRESS",
      description = "Listen on this address (default: ${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  String listen = "127.0.0.1";

  @Option(
      names = "--host",
      paramLabel = "NAME",
      split = ",",
      description = "Accept this host name in addition to loopback names; repeatable.")
  private Set<String> hosts = new HashSet<>();

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "Serve HTTPS with this certificate chain (PEM; needs --tls-key).")
  private @Nullable Path tlsCert;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "Private key of --tls-cert (PEM, without a passphrase).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--base-path",
      paramLabel = "PATH",
      description = "Prefix of all paths, such as /timers (default: none).")
  private String basePath = "";

  @Option(
      names = "--trusted-proxy",
      paramLabel = "CIDR",
      split = ",",
      description = "Trust X-Forwarded-For of these proxies; repeatable.",
      converter = CidrConverter.class)
  private List<Cidr> trustedProxies = new ArrayList<>();

  @Option(
      names = "--drain-delay",
      paramLabel = "DURATION",
      description = "Serve this long after SIGTERM (default: ${DEFAULT-VALUE}, max: PT1H).",
      defaultValue = "PT0S")
  Duration drainDelay = Duration.ZERO;

  @Option(
      names = "--tokens",
      paramLabel = "FILE",
      description = "Require a token of this file (see `timewheel tokens create`).")
  private @Nullable Path tokens;

  @Option(
      names = "--tokens-grace",
      paramLabel = "DURATION",
      description = "Keep tokens of an unreadable file (default: ${DEFAULT-VALUE}, max: PT24H).",
      defaultValue = "PT5M")
  private Duration tokensGrace = Tokens.GRACE;

  @Option(names = "--insecure", description = "Allow a non-loopback address without tokens.")
  private boolean insecure;

  /** Refuses values that are out of range, without access to files. */
  void check() {
    if (port < 0 || port > Settings.MAX_PORT) {
      throw CommandException.wrongUsage(
          "--port: " + port + " (expected: 0 to " + Settings.MAX_PORT + ")");
    }
    try {
      basePath = new Ingress(basePath.strip(), List.of(), null).basePath();
    } catch (IllegalArgumentException e) {
      throw CommandException.wrongUsage("--base-path: " + e.getMessage());
    }
    checkAtMost("--drain-delay", drainDelay, MAX_DRAIN_DELAY);
    checkAtMost("--tokens-grace", tokensGrace, MAX_GRACE);
  }

  private static void checkAtMost(String option, Duration value, Duration max) {
    if (value.isNegative() || value.compareTo(max) > 0) {
      throw CommandException.wrongUsage(option + ": " + value + " (expected: PT0S to " + max + ")");
    }
  }

  Set<String> hosts() {
    Set<String> names = new HashSet<>();
    hosts.forEach(host -> names.add(host.strip().toLowerCase(Locale.ROOT)));
    return names;
  }

  /** {@return the path of requests to the server: base path, proxies and TLS} */
  Ingress ingress() throws IOException {
    return new Ingress(basePath, trustedProxies, tls());
  }

  private @Nullable TlsFiles tls() throws IOException {
    if (tlsCert == null && tlsKey == null) {
      return null;
    }
    if (tlsCert == null || tlsKey == null) {
      throw CommandException.wrongUsage(
          (tlsKey == null ? "--tls-key" : "--tls-cert")
              + ": is missing (expected: --tls-cert and --tls-key together)");
    }
    TlsFiles files = new TlsFiles(tlsCert, tlsKey);
    var unused = files.read(); // an invalid pair is refused before the port opens
    return files;
  }

  /** {@return whether tokens reach this server in clear text} */
  boolean sendsTokensInClear() throws IOException {
    return tokens != null && tlsCert == null && !isLoopback();
  }

  private boolean isLoopback() throws IOException {
    return InetAddress.getByName(listen).isLoopbackAddress();
  }

  /** {@return the tokens that admit callers; null if every caller is admitted} */
  @Nullable Tokens tokens() throws IOException {
    if (tokens != null) {
      return Tokens.open(tokens, tokensGrace, InstantSource.system());
    }
    if (insecure || isLoopback()) {
      return null;
    }
    throw CommandException.wrongUsage(
        "--listen "
            + listen
            + " is reachable from other machines and needs --tokens;"
            + " --insecure would admit every caller");
  }
}
