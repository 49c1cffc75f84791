// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static java.util.Objects.requireNonNullElse;

import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A secret of the server's configuration, and the targets that may use it.
 *
 * @param keys the keys that sign requests, the newest first; empty if the secret is for headers
 *     only
 * @param headerValue the value of a header that names this secret
 * @param namespaces the namespaces whose timers may use it; empty for all
 * @param hosts the hosts that may receive it, over HTTPS on port 443 unless a scheme or a port is
 *     given: {@code *.shop.example} for all names below a domain, {@code *} for all hosts, schemes
 *     and ports. A loopback host stands for all its schemes and ports. Empty if only an
 *     administrator may name it
 */
public record ConfiguredSecret(
    List<WebhookSecret> keys, String headerValue, Set<String> namespaces, Set<String> hosts) {
  private static final Pattern HOST =
      Pattern.compile(
          "(?:(https?)://)?([*]|(?:[*]\\.)?[a-z0-9._-]+|\\[[0-9a-f:.]+])(?::(\\d{1,5}))?");

  private static final String ALL = "*";

  /** Hosts that no other machine can be. Receivers of tests are often there, on any port. */
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "[::1]", "localhost");

  /**
   * Copies the collections, and completes the hosts to origins.
   *
   * @throws IllegalArgumentException if a host is malformed
   */
  public ConfiguredSecret {
    keys = List.copyOf(keys);
    namespaces = Set.copyOf(namespaces);
    hosts =
        hosts.stream().flatMap(ConfiguredSecret::origins).collect(Collectors.toUnmodifiableSet());
  }

  private static Stream<String> origins(String host) {
    Matcher parts = HOST.matcher(host.toLowerCase(Locale.ROOT));
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "host= (expected: hosts such as shop.example, *.shop.example:8443 or http://10.0.0.1)");
    }
    if (host.equals(ALL)) {
      return Stream.of(ALL);
    }
    String name = parts.group(2);
    String port = parts.group(3);
    if (parts.group(1) == null && port == null && LOOPBACK.contains(name)) {
      return Stream.of("http://" + name + ":*", "https://" + name + ":*");
    }
    String scheme = requireNonNullElse(parts.group(1), "https");
    return Stream.of(
        WebhookTarget.origin(scheme, name, port == null ? -1 : Integer.parseInt(port)));
  }

  /**
   * {@return whether timers of a namespace may use the secret for requests to an origin}
   *
   * @param origin the {@linkplain WebhookTarget#origin() origin} of the target
   */
  public boolean admits(String namespace, String origin) {
    return (namespaces.isEmpty() || namespaces.contains(namespace))
        && (hosts.isEmpty() || hosts.stream().anyMatch(pattern -> matches(pattern, origin)));
  }

  private static boolean matches(String pattern, String origin) {
    int star = pattern.indexOf(ALL);
    return star < 0
        ? origin.equals(pattern)
        : origin.startsWith(pattern.substring(0, star))
            && origin.endsWith(pattern.substring(star + 1));
  }

  /** {@return a text without the secret} */
  @Override
  public String toString() {
    return "ConfiguredSecret";
  }
}
