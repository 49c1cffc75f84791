// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.api.HeaderValue;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A webhook target, stored as headers of its timer. {@link DeliveryName#handler} returns the name
 * of its handler. The names of these headers begin with a colon, which is not allowed in headers of
 * users.
 */
public final class StoredTarget {
  public static final String URL = ":url";
  public static final String SECRET = ":secret";
  public static final String TIMEOUT = ":timeout";

  /** The prefix of the headers of the request whose values are stored. */
  private static final String HEADER = ":header-";

  /** The prefix of the headers of the request that name a secret. */
  private static final String SECRET_HEADER = ":secret-header-";

  private StoredTarget() {}

  /** {@return the target that headers contain} */
  public static WebhookTarget of(Map<String, String> stored) {
    String timeout = stored.get(TIMEOUT);
    return new WebhookTarget(
        WebhookTarget.parseUrl(stored.getOrDefault(URL, "")),
        stored.getOrDefault(SECRET, ""),
        headers(stored),
        timeout == null ? WebhookTarget.DEFAULT_TIMEOUT : Duration.parse(timeout));
  }

  /** {@return the headers of the request that headers contain} */
  public static Map<String, HeaderValue> headers(Map<String, String> stored) {
    Map<String, HeaderValue> headers = new LinkedHashMap<>();
    stored.forEach(
        (name, value) -> {
          if (name.startsWith(HEADER)) {
            headers.put(name.substring(HEADER.length()), HeaderValue.text(value));
          } else if (name.startsWith(SECRET_HEADER)) {
            headers.put(name.substring(SECRET_HEADER.length()), HeaderValue.secret(value));
          }
        });
    return headers;
  }

  /** Stores a header of the request. */
  public static void putHeader(Map<String, String> stored, String name, HeaderValue value) {
    if (value.text() != null) {
      stored.put(HEADER + name, value.text());
    } else if (value.secret() != null) {
      stored.put(SECRET_HEADER + name, value.secret());
    }
  }

  /** {@return the headers except those that contain a target} */
  public static Map<String, String> userHeaders(Map<String, String> headers) {
    Map<String, String> users = new LinkedHashMap<>(headers);
    users.keySet().removeIf(name -> name.startsWith(":"));
    return users;
  }
}
