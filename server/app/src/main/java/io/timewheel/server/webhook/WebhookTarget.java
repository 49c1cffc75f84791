// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.api.HeaderValue;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The receiver of a timer's firings.
 *
 * @param url an absolute {@code http} or {@code https} URL
 * @param secret the name of the secret that signs
 * @param headers further headers of the request
 * @param timeout the longest time of a request, from the lookup of the address to the end of the
 *     answer
 */
public record WebhookTarget(
    URI url, String secret, Map<String, HeaderValue> headers, Duration timeout) {
  /** The timeout of a target that sets none. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(1);
  private static final int MAX_URL = 2_048;
  private static final int MAX_HEADERS = 32;
  private static final int MAX_HEADER_BYTES = 8 * 1_024;
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e]*");

  /**
   * The headers that a user must not set, because they determine the receiver or the end of a
   * message.
   */
  private static final Set<String> RESERVED =
      Set.of(
          "host",
          "connection",
          "content-length",
          "expect",
          "http2-settings",
          "keep-alive",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private static final Set<String> RESERVED_PREFIXES = Set.of("timewheel-", "webhook-");

  /**
   * The headers that contain secrets. Their values must not be part of any store, backup or answer.
   */
  private static final Set<String> SECRET =
      Set.of("authorization", "proxy-authorization", "cookie");

  /**
   * Checks the fields. An error names the field first, such as {@code target.url: …}.
   *
   * @throws IllegalArgumentException if a field is invalid
   */
  public WebhookTarget {
    checkUrl(url);
    if (secret.isEmpty()) {
      throw new IllegalArgumentException("target.secret: empty (expected: the name of a secret)");
    }
    if (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "target.timeout: %s (expected: %s to %s)".formatted(timeout, MIN_TIMEOUT, MAX_TIMEOUT));
    }
    checkHeaders(headers);
    headers = Map.copyOf(headers);
  }

  /** {@return the URL of a target; throws if the text is not a URL} */
  public static URI parseUrl(String text) {
    if (text.length() > MAX_URL) {
      throw new IllegalArgumentException(
          "target.url: %,d characters (expected: at most %,d)".formatted(text.length(), MAX_URL));
    }
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("target.url: " + e.getReason(), e);
    }
  }

  private static void checkUrl(URI url) {
    String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
    String wrong = null;
    if (!scheme.equals("http") && !scheme.equals("https")) {
      wrong = "an http or https URL";
    } else if (url.getHost() == null || url.getHost().isEmpty()) {
      wrong = "a URL with a host";
    } else if (url.getRawUserInfo() != null) {
      wrong = "a URL without a password; target.headers may hold one";
    } else if (url.getRawFragment() != null) {
      wrong = "a URL without a fragment";
    } else if (url.getPort() == 0 || url.getPort() > 65_535) {
      wrong = "a port from 1 to 65535";
    } else if (!StandardCharsets.US_ASCII.newEncoder().canEncode(url.toString())) {
      wrong = "a URL in ASCII, other characters percent-encoded";
    }
    if (wrong != null) {
      throw new IllegalArgumentException("target.url (expected: " + wrong + ")");
    }
  }

  private static void checkHeaders(Map<String, HeaderValue> headers) {
    if (headers.size() > MAX_HEADERS) {
      throw new IllegalArgumentException(
          "target.headers: %d (expected: at most %d)".formatted(headers.size(), MAX_HEADERS));
    }
    int bytes = 0;
    Set<String> names = new HashSet<>();
    for (Map.Entry<String, HeaderValue> header : headers.entrySet()) {
      String name = header.getKey();
      String text = header.getValue().text();
      if (!TOKEN.matcher(name).matches()) {
        throw new IllegalArgumentException("target.headers: not a name of a header");
      }
      String lower = name.toLowerCase(Locale.ROOT);
      if (RESERVED.contains(lower) || RESERVED_PREFIXES.stream().anyMatch(lower::startsWith)) {
        throw new IllegalArgumentException("target.headers: " + name + " must not be set");
      }
      if (!names.add(lower)) {
        throw new IllegalArgumentException("target.headers: " + name + " is given twice");
      }
      if (text != null && SECRET.contains(lower)) {
        throw new IllegalArgumentException(
            "target.headers.%s: a plain value (expected: {\"secret\":\"name\"})".formatted(name));
      }
      if (text != null && !VALUE.matcher(text).matches()) {
        throw new IllegalArgumentException(
            "target.headers: the value of " + name + " (expected: printable ASCII)");
      }
      bytes +=
          name.length() + String.valueOf(text != null ? text : header.getValue().secret()).length();
    }
    if (bytes > MAX_HEADER_BYTES) {
      throw new IllegalArgumentException(
          "target.headers: %,d bytes (expected: at most %,d)".formatted(bytes, MAX_HEADER_BYTES));
    }
  }

  /** {@return whether the target sets a header, in any case} */
  boolean sets(String name) {
    return headers.keySet().stream().anyMatch(name::equalsIgnoreCase);
  }

  /** {@return the host in lower case, without a final dot} */
  public String host() {
    String host = url.getHost().toLowerCase(Locale.ROOT);
    return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
  }

  /** {@return scheme, host and port, such as {@code https://shop.example:443}} */
  public String origin() {
    return origin(url.getScheme().toLowerCase(Locale.ROOT), host(), url.getPort());
  }

  static String origin(String scheme, String host, int port) {
    int standard = scheme.equals("https") ? 443 : 80;
    return scheme + "://" + host + ":" + (port < 0 ? standard : port);
  }

  /** {@return the target without the values of its headers} */
  @Override
  public String toString() {
    return "WebhookTarget(" + url + ", headers " + headers.keySet() + ")";
  }
}
