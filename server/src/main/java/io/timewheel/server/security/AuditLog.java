// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.json.Json;
import io.timewheel.server.settings.LogOutput;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
    String path = entry.path;
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", Instant.now().truncatedTo(ChronoUnit.MILLIS));
    line.put("who", entry.caller);
    line.put("from", entry.address);
    line.put("request", entry.requestId);
    line.put("did", entry.operation);
    line.put("path", path.substring(0, Math.min(path.length(), MAX_PATH)));
    line.putAll(entry.names);
    line.putAll(entry.notes);
    line.put("status", entry.status);
    LOG.info("{}", Json.ascii(line));
  }
}
