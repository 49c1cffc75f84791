// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The path of requests to the server, through proxies and TLS.
 *
 * @param basePath the prefix of all paths, such as {@code /timers}; empty for none
 * @param trustedProxies the addresses whose {@code X-Forwarded-For} header is trusted
 * @param tls the certificate of the port; null for none
 */
public record Ingress(String basePath, List<Cidr> trustedProxies, @Nullable TlsFiles tls) {
  /** The syntax of a base path: only characters that every proxy encodes in the same way. */
  private static final Pattern BASE_PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*");

  /** No base path, no proxies and no TLS. */
  public static final Ingress DIRECT = new Ingress("", List.of(), null);

  /**
   * Checks the base path and copies the list.
   *
   * @throws IllegalArgumentException if the base path is malformed
   */
  public Ingress {
    basePath = basePath.endsWith("/") ? basePath.substring(0, basePath.length() - 1) : basePath;
    if (!BASE_PATH.matcher(basePath).matches()) {
      throw new IllegalArgumentException(basePath + " (expected: a path such as /timers)");
    }
    trustedProxies = List.copyOf(trustedProxies);
  }
}
