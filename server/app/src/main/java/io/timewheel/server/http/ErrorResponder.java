// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** Answers requests that reach no route, such as a request that is not HTTP. */
final class ErrorResponder extends ErrorHandler {
  private static final Map<Integer, String> DETAILS =
      Map.of(
          414, "the path is too long",
          431, "the headers are too large",
          400, "the request is not valid HTTP");

  @Override
  public boolean handle(Request request, Response response, Callback callback) {
    int status = response.getStatus();
    String detail = DETAILS.getOrDefault(status, HttpStatus.getMessage(status));
    byte[] body = Json.bytes(Problem.of(status, "not_served", detail).details());
    response.getHeaders().put(HttpHeader.CONTENT_TYPE, Problem.MEDIA_TYPE);
    response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
    response.getHeaders().put("X-Content-Type-Options", "nosniff");
    response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
    if (status == HttpStatus.SERVICE_UNAVAILABLE_503) { // the server drains
      response.getHeaders().put(HttpHeader.RETRY_AFTER, 1);
    }
    response.write(true, ByteBuffer.wrap(body), callback);
    return true;
  }
}
