// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.resource;

import io.timewheel.server.http.Exchange;
import io.timewheel.server.http.Route;
import io.timewheel.server.http.Router;
import io.timewheel.server.problem.Problem;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http.HttpHeader;
import org.jspecify.annotations.Nullable;

/**
 * Serves the files of the console to everyone. They contain no data, and a browser has no token
 * when it requests them.
 */
public final class ConsoleResource {
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
          + " connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'";

  private static final String DIRECTORY = "/io/timewheel/server/console/";

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml",
          "json", "application/json",
          "woff2", "font/woff2");

  private final Map<String, File> files = new ConcurrentHashMap<>();

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record File(byte[] content, String type, String tag) {}

  public void addTo(Router router) {
    router.read(Route.of("GET", "/"), exchange -> serve(exchange, "index.html"));
    router.read(
        Route.of("GET", "/console/{file}"),
        exchange -> serve(exchange, exchange.request().path("file")));
  }

  private void serve(Exchange exchange, String name) throws IOException {
    File file = file(name);
    if (file == null) {
      throw Problem.of(404, "no_such_path", "the console has no such file").failure();
    }
    var headers = exchange.response().getHeaders();
    headers.put("Content-Security-Policy", POLICY);
    headers.put("Referrer-Policy", "no-referrer");
    headers.put(HttpHeader.CACHE_CONTROL, "no-cache");
    headers.put(HttpHeader.ETAG, file.tag);
    if (file.tag.equals(exchange.request().header(HttpHeader.IF_NONE_MATCH))) {
      exchange.send(304, file.type, new byte[0]);
    } else {
      exchange.send(200, file.type, file.content);
    }
  }

  /** {@return a file, read once; null if there is none with that name} */
  private @Nullable File file(String name) throws IOException {
    File known = files.get(name);
    String type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
    // A name without a slash cannot leave the directory.
    if (known != null || type == null || !name.matches("[A-Za-z0-9_-]+\\.[a-z0-9]+")) {
      return known;
    }
    try (InputStream in = ConsoleResource.class.getResourceAsStream(DIRECTORY + name)) {
      if (in == null) {
        return null;
      }
      byte[] content = in.readAllBytes();
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(content);
      String tag = '"' + Base64.getUrlEncoder().withoutPadding().encodeToString(hash) + '"';
      File file = new File(content, type, tag);
      files.put(name, file);
      return file;
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
