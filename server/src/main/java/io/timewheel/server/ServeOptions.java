// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of a server, as the command line, the environment or the file has them. */
final class ServeOptions {
  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "The port; 0 for a free one (${DEFAULT-VALUE}).",
      defaultValue = "" + ServerConfig.DEFAULT_PORT)
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
      names = "--data",
      paramLabel = "DIR",
      description = "Where the timers are kept (${DEFAULT-VALUE}).",
      defaultValue = "./timewheel-data")
  Path data = Path.of("timewheel-data");

  @Option(
      names = "--tokens",
      paramLabel = "FILE",
      description = "The tokens that let a caller in, as `timewheel config token` makes them.")
  private @Nullable Path tokens;

  @Option(
      names = "--insecure",
      description = "Listens on another address than loopback though nobody has to show a token.")
  private boolean insecure;

  @Option(
      names = "--log-format",
      paramLabel = "FORM",
      description = "${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}), on standard error.",
      defaultValue = "text")
  Logs.Form logFormat = Logs.Form.text;

  @Option(
      names = "--audit-log",
      paramLabel = "FILE",
      description = "Where to record who changed what, instead of standard error.")
  @Nullable Path auditLog;

  ServerConfig config() {
    ServerConfig loopback = ServerConfig.loopback(port);
    Set<String> names = new HashSet<>();
    hosts.forEach(host -> names.add(host.strip().toLowerCase(Locale.ROOT)));
    return new ServerConfig(
        listen,
        port,
        names,
        loopback.maxConnections(),
        loopback.maxWaitingClaims(),
        loopback.maxStreams(),
        loopback.maxBodyBytes());
  }

  /**
   * {@return the tokens that let a caller in; null if everyone is let in}
   *
   * @throws IOException if that must not be, or the file cannot be used
   */
  @Nullable Tokens tokens() throws IOException {
    if (tokens != null) {
      return Tokens.open(tokens);
    }
    if (insecure || InetAddress.getByName(listen).isLoopbackAddress()) {
      return null;
    }
    throw new IOException(
        "--listen "
            + listen
            + " reaches beyond this machine, and there are no --tokens;"
            + " --insecure would let everybody in");
  }
}
