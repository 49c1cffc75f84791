// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import org.jspecify.annotations.Nullable;

/** Finds the secrets of the server's configuration by name. */
@FunctionalInterface
public interface SecretSource {
  /** The source of a server without secrets. */
  SecretSource NONE = name -> null;

  /** {@return the secret with a name; null if there is none} */
  @Nullable ConfiguredSecret find(String name);

  /** {@return the secrets that list the hosts that may receive them} */
  default SecretSource boundToHosts() {
    return name -> {
      ConfiguredSecret secret = find(name);
      return secret == null || secret.hosts().isEmpty() ? null : secret;
    };
  }
}
