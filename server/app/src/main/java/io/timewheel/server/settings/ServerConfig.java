// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.time.Duration;
import java.util.Set;

/**
 * The settings of the HTTP server: its address and its limits.
 *
 * @param listen the address to listen on
 * @param port the port; 0 for a free one
 * @param hosts the accepted host names of requests, in addition to loopback names and {@code
 *     listen}
 * @param ingress the path of requests to the server
 * @param maxConnections the largest number of connections; further ones are refused
 * @param maxWaitingClaims the largest number of waiting claims
 * @param maxStreams the largest number of open event streams
 * @param maxBodyBytes the largest memory of bodies
 * @param maxBodyTime the longest time for a client to send a body
 * @param work limits of the work for requests, and of their answers
 */
public record ServerConfig(
    String listen,
    int port,
    Set<String> hosts,
    Ingress ingress,
    int maxConnections,
    int maxWaitingClaims,
    int maxStreams,
    long maxBodyBytes,
    Duration maxBodyTime,
    WorkLimits work) {

  /** The default port. */
  public static final int DEFAULT_PORT = 7400;

  private static final long LEAST_BODY_BYTES = 40L << 20;

  public ServerConfig {
    hosts = Set.copyOf(hosts);
  }

  /** {@return the address to listen on, in the form of a URL} */
  public String urlHost() {
    return listen.contains(":") ? "[" + listen + "]" : listen;
  }

  /** {@return the URL of the server with its open port} */
  public String url(int openPort) {
    return (ingress.tls() == null ? "http://" : "https://")
        + urlHost()
        + ":"
        + openPort
        + ingress.basePath();
  }

  /** {@return the settings of a server that only its own machine can reach} */
  public static ServerConfig loopback(int port) {
    return new ServerConfig(
        "127.0.0.1",
        port,
        Set.of(),
        Ingress.DIRECT,
        16_000,
        12_000,
        2_000,
        Math.max(LEAST_BODY_BYTES, Runtime.getRuntime().maxMemory() / 8),
        Duration.ofSeconds(30),
        WorkLimits.standard());
  }
}
