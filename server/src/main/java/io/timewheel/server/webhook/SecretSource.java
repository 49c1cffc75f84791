// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import org.jspecify.annotations.Nullable;

/** Finds the secrets of the server's configuration by their names. */
@FunctionalInterface
public interface SecretSource {
  /** A server without secrets. */
  SecretSource NONE = name -> null;

  /** {@return the secret of a name; null if there is none} */
  @Nullable ConfiguredSecret find(String name);

  /** {@return the secrets that name the hosts which they may be sent to} */
  default SecretSource boundToHosts() {
    return name -> {
      ConfiguredSecret secret = find(name);
      return secret == null || secret.hosts().isEmpty() ? null : secret;
    };
  }
}
