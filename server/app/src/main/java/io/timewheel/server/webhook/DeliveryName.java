// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The name of the handler for webhooks of one namespace to one host, {@code
 * webhook:shop.example/orders}. Long parts are replaced by their hashes.
 *
 * @param host the host, without its port
 */
public record DeliveryName(String host, String namespace) {
  /** The prefix of the names of all webhook handlers. */
  public static final String PREFIX = "webhook:";

  private static final String HASH = "sha-256:";

  /** Two parts of this length fit into the name of a handler, which has up to 256 bytes. */
  private static final int MAX_PART_BYTES = 120;

  /** {@return the name of a handler} */
  public static String handler(String host, String namespace) {
    return PREFIX + part(host) + "/" + part(namespace);
  }

  /**
   * {@return the full name of a handler} Clients omit the namespace: {@code webhook:shop.example}.
   */
  public static String sought(String handler, String namespace) {
    boolean brief = handler.startsWith(PREFIX) && handler.indexOf('/') < 0;
    return brief ? handler(handler.substring(PREFIX.length()), namespace) : handler;
  }

  private static String part(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    if (bytes.length <= MAX_PART_BYTES) {
      return text;
    }
    try {
      return HASH + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("SHA-256 is in every JDK", e);
    }
  }

  /** {@return the parts of the name of a handler} */
  static DeliveryName of(String handler) {
    String parts = handler.substring(PREFIX.length());
    int slash = parts.indexOf('/'); // a host has no slash
    return slash < 0
        ? new DeliveryName(parts, "")
        : new DeliveryName(parts.substring(0, slash), parts.substring(slash + 1));
  }
}
