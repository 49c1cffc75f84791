// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.server.Route.Role;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.eclipse.jetty.server.Request;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JsonGenerator;

/**
 * Who changed what: a line of JSON for each request that may change something, also for one that
 * was refused. It has names, counts and outcomes; no body, no query, no header, so nothing secret.
 * What strangers named stands in it escaped, so that a line is one line.
 *
 * <p>A line is written when the answer is known and before it is sent. A kill between the change
 * and the answer leaves a change without a line; its caller does not know that it was done either.
 */
final class Audit {
  /** The logger, for whoever directs it. */
  static final String LOGGER = "timewheel.audit";

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);
  private static final int MAX_PATH = 2_000;

  private Audit() {}

  static void answered(Exchange exchange, int status) {
    Route route = exchange.route();
    if (route != null && route.role().compareTo(Role.WRITE) >= 0 && !exchange.isUneventful()) {
      LOG.info("{}", line(exchange, route, status));
    }
  }

  private static String line(Exchange exchange, Route route, int status) {
    byte[] line = Json.ascii(json -> write(json, exchange, route, status));
    return new String(line, UTF_8);
  }

  private static void write(JsonGenerator json, Exchange exchange, Route route, int status) {
    Request request = exchange.request();
    String path = String.valueOf(request.getHttpURI().getPath());
    json.writeStartObject();
    json.writeStringProperty("at", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
    json.writeStringProperty("who", exchange.caller().name());
    json.writeStringProperty("from", Request.getRemoteAddr(request));
    json.writeStringProperty("request", exchange.id());
    json.writeStringProperty("did", route.method() + " " + route.pattern());
    json.writeStringProperty("path", path.substring(0, Math.min(path.length(), MAX_PATH)));
    exchange.names().forEach(json::writeStringProperty);
    exchange.notes().forEach((name, value) -> note(json, name, value));
    json.writeNumberProperty("status", status);
    json.writeEndObject();
  }

  private static void note(JsonGenerator json, String name, Object value) {
    if (value instanceof List<?> list) {
      json.writeArrayPropertyStart(name);
      list.forEach(each -> json.writeString(each.toString()));
      json.writeEndArray();
    } else if (value instanceof Long number) {
      json.writeNumberProperty(name, number);
    } else {
      json.writeStringProperty(name, value.toString());
    }
  }
}
