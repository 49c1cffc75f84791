// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.server.json.Json;
import io.timewheel.server.settings.LogOutput;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
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
public final class AuditLog {
  private static final Logger LOG = LoggerFactory.getLogger(LogOutput.AUDIT);
  private static final int MAX_PATH = 2_000;

  private AuditLog() {}

  /**
   * A request that was answered.
   *
   * @param caller the name of its caller
   * @param address the address of its client
   * @param requestId its ID
   * @param operation the method and the pattern of its route
   * @param path its path
   * @param names the names in its path
   * @param notes further facts: texts, lists and whole numbers
   * @param status the status of the answer
   */
  public record Entry(
      String caller,
      String address,
      String requestId,
      String operation,
      String path,
      Map<String, String> names,
      Map<String, Object> notes,
      int status) {}

  public static void write(Entry entry) {
    LOG.info("{}", new String(Json.ascii(json -> write(json, entry)), UTF_8));
  }

  private static void write(JsonGenerator json, Entry entry) {
    String path = entry.path;
    json.writeStartObject();
    json.writeStringProperty("at", Instant.now().truncatedTo(ChronoUnit.MILLIS).toString());
    json.writeStringProperty("who", entry.caller);
    json.writeStringProperty("from", entry.address);
    json.writeStringProperty("request", entry.requestId);
    json.writeStringProperty("did", entry.operation);
    json.writeStringProperty("path", path.substring(0, Math.min(path.length(), MAX_PATH)));
    entry.names.forEach(json::writeStringProperty);
    entry.notes.forEach((name, value) -> note(json, name, value));
    json.writeNumberProperty("status", entry.status);
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
