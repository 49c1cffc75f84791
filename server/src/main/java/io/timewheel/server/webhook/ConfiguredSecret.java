// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A secret of the server's configuration, and the targets that may use it.
 *
 * @param keys the keys that sign requests, the newest first; empty if the secret is for headers
 *     only
 * @param headerValue the value of a header that names this secret
 * @param namespaces the namespaces whose timers may use it; empty for all
 * @param hosts the hosts that may receive it: {@code *.shop.example} for all names below a domain,
 *     {@code *} for all; empty if only an administrator may name it
 */
public record ConfiguredSecret(
    List<WebhookSecret> keys, String headerValue, Set<String> namespaces, Set<String> hosts) {
  /** Copies the collections. */
  public ConfiguredSecret {
    keys = List.copyOf(keys);
    namespaces = Set.copyOf(namespaces);
    hosts = Set.copyOf(hosts);
  }

  /** {@return whether timers of a namespace may use the secret for requests to a host} */
  public boolean admits(String namespace, String host) {
    return (namespaces.isEmpty() || namespaces.contains(namespace))
        && (hosts.isEmpty() || hosts.stream().anyMatch(pattern -> matches(pattern, host)));
  }

  private static boolean matches(String pattern, String host) {
    String wanted = pattern.toLowerCase(Locale.ROOT);
    return wanted.equals("*")
        || (wanted.startsWith("*.") ? host.endsWith(wanted.substring(1)) : host.equals(wanted));
  }

  /** {@return a text without the secret} */
  @Override
  public String toString() {
    return "ConfiguredSecret";
  }
}
