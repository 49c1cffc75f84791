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
 * Where the firings of a timer are posted to.
 *
 * @param url an absolute {@code http} or {@code https} URL
 * @param secret the name of the secret that signs
 * @param headers further headers of the request
 * @param timeout how long a call may take, from its first look at the address to the end of the
 *     answer
 */
public record WebhookTarget(
    URI url, String secret, Map<String, HeaderValue> headers, Duration timeout) {
  /** The timeout of a target that names none. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);
  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(1);
  private static final int MAX_URL = 2_048;
  private static final int MAX_HEADERS = 32;
  private static final int MAX_HEADER_BYTES = 8 * 1_024;
  private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}");
  private static final Pattern VALUE = Pattern.compile("[\\t\\x20-\\x7e]*");

  /** What decides where a message goes and where it ends is not the user's to set. */
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

  /** The values of these are secrets, so that none is in the store, a backup or an answer. */
  private static final Set<String> SECRET =
      Set.of("authorization", "proxy-authorization", "cookie");

  /**
   * Checks the fields. An error names the field first, as {@code target.url: …}.
   *
   * @throws IllegalArgumentException if one of them is not what it should be
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

  /**
   * Reads the URL of a target.
   *
   * @param text the URL
   * @return the URL
   * @throws IllegalArgumentException if it is none
   */
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
      wrong = "a URL in ASCII, the rest encoded by %";
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
        throw new IllegalArgumentException("target.headers: " + name + " is not yours to set");
      }
      if (!names.add(lower)) {
        throw new IllegalArgumentException("target.headers: " + name + " comes twice");
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

  /** {@return whether it sets a header, in whatever case} */
  boolean sets(String name) {
    return headers.keySet().stream().anyMatch(name::equalsIgnoreCase);
  }

  /** {@return the host in lower case, without a dot at its end} */
  public String host() {
    String host = url.getHost().toLowerCase(Locale.ROOT);
    return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
  }

  /** {@return the target without the values of its headers} */
  @Override
  public String toString() {
    return "WebhookTarget(" + url + ", headers " + headers.keySet() + ")";
  }
}
