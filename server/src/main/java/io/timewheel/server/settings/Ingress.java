// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The way of a request to the server, through TLS and proxies.
 *
 * @param basePath the path in front of all others, such as {@code /timers}; empty for none
 * @param trustedProxies the addresses whose {@code X-Forwarded-For} header is honoured
 * @param tls the certificate of the port; null if it has none
 */
public record Ingress(String basePath, List<Cidr> trustedProxies, @Nullable TlsFiles tls) {
  /** Only characters that no proxy encodes in another way. */
  private static final Pattern BASE_PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*");

  /** Without a path in front, without proxies and without TLS. */
  public static final Ingress DIRECT = new Ingress("", List.of(), null);

  /**
   * Checks the path and copies the list.
   *
   * @throws IllegalArgumentException if the path cannot be in front of others
   */
  public Ingress {
    requireNonNull(basePath, "basePath");
    basePath = basePath.endsWith("/") ? basePath.substring(0, basePath.length() - 1) : basePath;
    if (!BASE_PATH.matcher(basePath).matches()) {
      throw new IllegalArgumentException(basePath + " (expected: a path such as /timers)");
    }
    trustedProxies = List.copyOf(trustedProxies);
  }
}
