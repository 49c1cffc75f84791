// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.settings.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The address of a server, and the callers that it lets in. */
public final class NetworkOptions {
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
      names = "--tokens",
      paramLabel = "FILE",
      description = "The tokens that let a caller in, as `timewheel tokens create` makes them.")
  private @Nullable Path tokens;

  @Option(
      names = "--insecure",
      description = "Listens on another address than loopback though nobody has to show a token.")
  private boolean insecure;

  int port() {
    return port;
  }

  String listen() {
    return listen;
  }

  Set<String> hosts() {
    Set<String> names = new HashSet<>();
    hosts.forEach(host -> names.add(host.strip().toLowerCase(Locale.ROOT)));
    return names;
  }

  /**
   * {@return the way of requests to the server}
   *
   * @throws IOException if the certificate of the port cannot be used
   */
  Ingress ingress() throws IOException {
    return new Ingress(basePath, trustedProxies, tls());
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

  /** {@return whether tokens reach this server in clear, where others can read them} */
  public boolean sendsTokensInClear() throws IOException {
    return tokens != null && tlsCert == null && !isLoopback();
  }

  private boolean isLoopback() throws IOException {
    return InetAddress.getByName(listen).isLoopbackAddress();
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
}
