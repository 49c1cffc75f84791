// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.ServerConfig;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests that foreign web pages cause a browser to send.
 *
 * <p>A foreign domain name may resolve to this server. So the host of a request must be a loopback
 * name, a configured name or an address. Any address is allowed, because an attacker cannot point
 * it to another server. Writes from another origin are refused. Requests from another site are
 * refused too, except a link that opens the console.
 */
final class OriginCheck {
  static final String API_POLICY = "default-src 'none'; frame-ancestors 'none'";

  private static final Set<String> SAME = Set.of("same-origin", "none");
  private static final String SITE = "Sec-Fetch-Site";

  private final ServerConfig config;

  OriginCheck(ServerConfig config) {
    this.config = config;
  }

  void check(Request request, boolean isConsole) {
    String host = request.getHeaders().get(HttpHeader.HOST);
    checkHost(host);
    String target = request.getHttpURI().getHost();
    if (target != null) {
      checkHost(target);
    }
    boolean reads = request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
    String site = request.getHeaders().get(SITE);
    boolean opensConsole =
        reads && isConsole && "navigate".equals(request.getHeaders().get("Sec-Fetch-Mode"));
    if (site != null && !SAME.contains(site) && !(reads && isSameSite(site)) && !opensConsole) {
      throw foreign(SITE + ": " + site + " (expected: same-origin or none)");
    }
    String origin = request.getHeaders().get(HttpHeader.ORIGIN);
    if (!reads && origin != null && !isOrigin(origin, host)) {
      throw foreign(
          "Origin: %1$s (expected: http://%2$s or https://%2$s, by the Host of the request; a proxy must pass Host on)"
              .formatted(origin, host));
    }
  }

  private static Problem.Failure foreign(String detail) {
    return Problem.of(403, "foreign_origin", detail).failure();
  }

  private static boolean isSameSite(String site) {
    return site.equals("same-site");
  }

  private static boolean isOrigin(String origin, @Nullable String host) {
    return origin.equalsIgnoreCase("http://" + host) || origin.equalsIgnoreCase("https://" + host);
  }

  private void checkHost(@Nullable String authority) {
    if (authority == null || !isOurs(name(authority))) {
      Set<String> expected = new TreeSet<>(config.hosts());
      expected.add(config.urlHost());
      throw Problem.of(
              421,
              "misdirected",
              "Host: %s (expected: localhost, an IP address, or one of %s; --host adds a name)"
                  .formatted(authority, expected))
          .failure();
    }
  }

  /** {@return the name without its port} */
  private static String name(String authority) {
    String host = authority.toLowerCase(Locale.ROOT);
    int colon = host.lastIndexOf(':');
    return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
  }

  private boolean isOurs(String host) {
    return host.equals("localhost")
        || host.equals(config.urlHost().toLowerCase(Locale.ROOT))
        || config.hosts().contains(host)
        || isAddress(host);
  }

  private static boolean isAddress(String host) {
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    String text = bracketed ? host.substring(1, host.length() - 1) : host;
    return bracketed == text.contains(":") && Cidr.address(text) != null;
  }
}
