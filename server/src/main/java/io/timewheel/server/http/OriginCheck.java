// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.ServerConfig;
import java.util.Locale;
import java.util.Set;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * Keeps out what web pages of others have a browser send. A name that is neither loopback nor
 * configured may have been bound to this address by a stranger; a change that another origin asks
 * for was not asked for by the user.
 */
final class OriginCheck {
  static final String API_POLICY = "default-src 'none'; frame-ancestors 'none'";

  private static final Set<String> SAME = Set.of("same-origin", "none");

  private final ServerConfig config;

  OriginCheck(ServerConfig config) {
    this.config = config;
  }

  void check(Request request) {
    String host = request.getHeaders().get(HttpHeader.HOST);
    if (host == null || !isOurs(host) || !isOurs(request.getHttpURI().getHost())) {
      throw Problem.of(421, "misdirected", "Host (expected: a loopback name or a configured one)")
          .failure();
    }
    boolean reads = request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
    String site = request.getHeaders().get("Sec-Fetch-Site");
    String origin = request.getHeaders().get(HttpHeader.ORIGIN);
    boolean foreign =
        (site != null && !SAME.contains(site)) || (origin != null && !isOrigin(origin, host));
    if (!reads && foreign) {
      throw Problem.of(403, "foreign_origin", "web pages of others may change nothing").failure();
    }
  }

  private static boolean isOrigin(String origin, String host) {
    return origin.equalsIgnoreCase("http://" + host) || origin.equalsIgnoreCase("https://" + host);
  }

  private boolean isOurs(@Nullable String authority) {
    if (authority == null) {
      return true; // the header alone says it
    }
    String host = authority.toLowerCase(Locale.ROOT);
    int colon = host.lastIndexOf(':');
    if (colon > host.lastIndexOf(']')) {
      host = host.substring(0, colon);
    }
    return host.equals("localhost")
        || host.equals("[::1]")
        || host.matches("127\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}")
        || host.equals(config.urlHost().toLowerCase(Locale.ROOT))
        || config.hosts().contains(host);
  }
}
