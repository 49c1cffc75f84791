// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.settings.LogOutput;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The audit log: one line of JSON for each request that may change something, even if it was
 * refused. A line contains names, counts and outcomes. It contains no body, query or header, and so
 * no secret. Texts from callers are escaped, so that a line stays one line. A name that is longer
 * than any valid name is cut short, so that a refused request writes little.
 *
 * <p>The line of a request without a valid token contains no names, and at most 10 such lines are
 * written within 10 s. The next line of any request counts the omitted ones as {@code unlogged}.
 *
 * <p>A line is written when the answer is known and before it is sent. If the process is killed
 * between the change and the answer, the change has no line. Its caller received no answer either.
 *
 * <p>A line that cannot be written is counted as lost. If each change needs a line, changes are
 * refused from then on, and the change without a line is answered with a problem. The first line
 * after a failure contains the number of lost lines.
 */
public final class AuditLog {
  /** The answer to a change whose line is lost. */
  public static final Problem LOST =
      Problem.of(
              503,
              "unknown_outcome",
              "the change may have been made, and its line in the audit log is lost; repeat it with"
                  + " the same Idempotency-Key")
          .header("Retry-After", "1");

  private static final Logger LOG = LoggerFactory.getLogger(AuditLog.class);
  private static final int UNAUTHORIZED = 401;
  private static final int MAX_UNAUTHORIZED = 10;
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);

  /**
   * The maximum length of a text: the escaped form of the longest valid name, 256 bytes of UTF-8.
   */
  private static final int MAX_ESCAPED = 768;

  private static final int MAX_REFUSED_PATH = 200;

  /** The length of a text after it was cut. */
  private static final int CUT = 100;

  private static final int REFUSED = 400;
  private static final int ESCAPED_CHARACTER = 6;

  private final LongSupplier nanoTime;
  private final Sink sink;
  private final boolean required;
  private final LongAdder lost = new LongAdder();
  private volatile boolean failing;
  private long windowNanos;
  private int unauthorized;
  private long unlogged;

  /** Writes lines. */
  public interface Sink {
    void write(String line) throws IOException;
  }

  /** Creates a log that writes to the log of the process. */
  public AuditLog(LongSupplier nanoTime) {
    this(nanoTime, line -> LoggerFactory.getLogger(LogOutput.AUDIT).info("{}", line), false);
  }

  /**
   * Creates the log of a server.
   *
   * @param nanoTime the clock of the limit for requests without a valid token
   * @param required whether each change needs a line
   */
  public AuditLog(LongSupplier nanoTime, Sink sink, boolean required) {
    this.nanoTime = nanoTime;
    this.sink = sink;
    this.required = required;
    windowNanos = nanoTime.getAsLong();
  }

  /** {@return whether the last line could not be written} */
  public boolean isFailing() {
    return failing;
  }

  /** {@return the number of lost lines} */
  public long lost() {
    return lost.sum();
  }

  /** Refuses a change that needs a line while none can be written. */
  public void checkWritable() {
    if (required && failing) {
      throw Problem.unavailable("the audit log cannot be written; nothing was done").failure();
    }
  }

  /** An answered request. Its notes are texts, lists and whole numbers. */
  public record Entry(
      String caller,
      String address,
      String requestId,
      String operation,
      String path,
      Map<String, String> names,
      Map<String, Object> notes,
      int status) {}

  /**
   * Writes a line, unless there are too many requests without a valid token.
   *
   * @return false if the line is lost, and each change needs one
   */
  public boolean write(Entry entry) {
    boolean stranger = entry.status == UNAUTHORIZED;
    Map<String, Object> line = new LinkedHashMap<>();
    synchronized (this) {
      if (stranger && !isSampled()) {
        unlogged++;
        return true;
      }
      if (unlogged > 0) {
        line.put("unlogged", unlogged);
        unlogged = 0;
      }
    }
    line.put("at", now());
    line.put("who", entry.caller);
    line.put("from", entry.address);
    line.put("request", entry.requestId);
    line.put("did", entry.operation);
    line.put("path", cut(entry.path, entry.status < REFUSED ? MAX_ESCAPED : MAX_REFUSED_PATH));
    if (!stranger) {
      entry.names.forEach((name, value) -> line.put(name, cut(value, MAX_ESCAPED)));
      entry.notes.forEach((name, value) -> line.put(name, cut(value)));
    }
    line.put("status", entry.status);
    return append(line) || !required;
  }

  private boolean append(Map<String, Object> line) {
    String text = Json.ascii(line);
    synchronized (this) {
      retry();
      boolean written = !failing && isWritten(text);
      lost.add(written ? 0 : 1);
      return written;
    }
  }

  private boolean isWritten(String line) {
    try {
      sink.write(line);
      return true;
    } catch (IOException e) {
      if (!failing) {
        failing = true;
        LOG.error(
            "the audit log cannot be written; its lines are lost until it can: {}", e.toString());
      }
      return false;
    }
  }

  /** Writes the number of lost lines, if the last line could not be written. */
  public void retry() {
    if (failing) { // otherwise no need to wait for a slow write
      synchronized (this) {
        if (failing && isWritten(Json.ascii(Map.of("at", now(), "lost", lost())))) {
          failing = false;
          LOG.warn("the audit log is written again; lost lines: {}", lost());
        }
      }
    }
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS);
  }

  private boolean isSampled() {
    long now = nanoTime.getAsLong();
    if (now - windowNanos >= WINDOW_NANOS) {
      windowNanos = now;
      unauthorized = 0;
    }
    return ++unauthorized <= MAX_UNAUTHORIZED;
  }

  private static Object cut(Object note) {
    if (note instanceof Collection<?> several) {
      return several.stream().map(AuditLog::cut).toList();
    }
    return note instanceof String text ? cut(text, MAX_ESCAPED) : note;
  }

  /** {@return a text, cut short if its escaped form is longer than this} */
  private static String cut(String text, int maxEscaped) {
    int escaped = 0;
    int kept = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      escaped += c >= ' ' && c < 0x7F ? 1 : ESCAPED_CHARACTER;
      kept = escaped <= CUT ? i + 1 : kept;
      if (escaped > maxEscaped) {
        return text.substring(0, kept) + "...";
      }
    }
    return text;
  }
}
