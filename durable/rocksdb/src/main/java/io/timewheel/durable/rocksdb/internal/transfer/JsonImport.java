// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.transfer;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;

/** Reads and validates the output of {@link JsonExport}. */
public final class JsonImport {
  private static final int MAX_TEXT = 1 << 20;
  private static final long MAX_VERSION = 1L << 62;
  private static final Pattern SHA_256 = Pattern.compile("[0-9a-f]{64}");

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .disable(StreamReadFeature.AUTO_CLOSE_SOURCE)
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxDocumentLength(-1)
                  .maxTokenCount(-1)
                  .maxNestingDepth(10)
                  .maxStringLength(MAX_TEXT)
                  .build())
          .build();

  private final TimerSink sink;
  private long line = 1;
  private long timers;

  private JsonImport(TimerSink sink) {
    this.sink = sink;
  }

  /** Hands the timers of an export to a sink, in the order of the lines. */
  public static void read(InputStream in, TimerSink sink) {
    new JsonImport(sink).read(in);
  }

  private void read(InputStream in) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
      read(parser);
    } catch (JacksonIOException e) {
      throw JsonExport.unwrap(e);
    } catch (JacksonException e) {
      long at = e.getLocation() == null ? line : e.getLocation().getLineNr();
      throw refused(at, "is no JSON: " + e.getOriginalMessage(), e);
    }
  }

  private IllegalArgumentException refused(long at, String why, @Nullable RuntimeException cause) {
    return new IllegalArgumentException("line " + at + ": " + why, cause);
  }

  private void read(JsonParser parser) {
    Header header = next(parser, JsonImport::header);
    sink.begin(header.lastVersion(), header.paused());
    CopiedTimer timer = this.<@Nullable CopiedTimer>next(parser, this::timerOrEnd);
    while (timer != null) {
      sink.take(timer);
      timer = this.<@Nullable CopiedTimer>next(parser, this::timerOrEnd);
    }
    if (parser.nextToken() != null) {
      line = parser.currentTokenLocation().getLineNr();
      throw refused(line, "comes after the last line of the export", null);
    }
    sink.end();
  }

  private <T extends @Nullable Object> T next(JsonParser parser, Function<JsonObject, T> reading) {
    JsonToken token = parser.nextToken();
    if (token == null) {
      throw refused(
          line, "the export ends here, after " + timers + " timers, without its last line", null);
    }
    line = parser.currentTokenLocation().getLineNr();
    if (token != JsonToken.START_OBJECT) {
      throw refused(line, "is no object", null);
    }
    try {
      return reading.apply(JsonObject.read(parser));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw refused(line, String.valueOf(e.getMessage()), e);
    }
  }

  private record Header(long lastVersion, Set<String> paused) {}

  private static Header header(JsonObject object) {
    String kind = object.textOrNull("timewheel");
    if (!JsonExport.KIND.equals(kind)) {
      throw new IllegalArgumentException("this is not an export of timers");
    }
    long format = object.number("format");
    if (format != JsonExport.FORMAT) {
      throw new IllegalArgumentException(
          "format: "
              + format
              + " (expected: "
              + JsonExport.FORMAT
              + "; another release wrote it, and reads it)");
    }
    Header header =
        new Header(version("lastVersion", object), new LinkedHashSet<>(object.texts("paused")));
    object.end();
    header.paused().forEach(JsonImport::checkScope);
    return header;
  }

  /** {@return the timer of a line; null for the last line} */
  private @Nullable CopiedTimer timerOrEnd(JsonObject object) {
    if (object.has("timers")) {
      end(object);
      return null;
    }
    timers++;
    return timer(object);
  }

  /** Checks the scope of a pause. No call could resume a scope with an invalid name. */
  private static void checkScope(String scope) {
    if (!scope.equals(TimerStore.EVERYTHING)) {
      try {
        if (Scopes.isQueue(scope)) {
          TimerKey queue = Scopes.queueOf(scope);
          TimerSpec.of(queue.namespace(), "id").queue(queue.id());
        } else {
          TimerSpec.of(scope, "id");
        }
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("paused: " + e.getMessage(), e);
      }
    }
  }

  private void end(JsonObject object) {
    long count = object.count("timers");
    object.end();
    if (count != timers) {
      throw new IllegalArgumentException(
          "timers: " + count + " (expected: " + timers + ", the number of lines)");
    }
  }

  private static CopiedTimer timer(JsonObject object) {
    TimerKey key = new TimerKey(object.text("namespace"), object.text("id"));
    TimerState state = object.constant("state", TimerState.class);
    Claim claim = claim(object.objectOrNull("claim"));
    boolean firing = state == TimerState.RUNNING;
    if ((claim != null) != firing) {
      throw new IllegalArgumentException(
          "claim: " + (firing ? "is missing" : "is not for the state " + state));
    }
    long fireAt = object.number("fireAt", TimerRecord.NEVER);
    boolean waits = TimerRecord.isIndexed(state);
    if ((fireAt != TimerRecord.NEVER) != waits) {
      throw new IllegalArgumentException(
          "fireAt: " + (waits ? "is missing" : "is not for the state " + state));
    }
    TimerRecord record =
        new TimerRecord(
            key,
            version("version", object),
            version("revision", object),
            state,
            definition(key, object),
            object.number("dueAt"),
            fireAt,
            object.number("runAt", TimerRecord.NONE),
            object.has("attempt") ? object.smallCount("attempt") : 0,
            object.has("runs") ? object.count("runs") : 0,
            claim,
            claim(object.objectOrNull("former")),
            object.flag("paused"),
            object.flag("cancelRequested"),
            object.number("createdAt"),
            object.number("changedAt"),
            object.textOrNull("note"),
            object.textOrNull("trace"),
            bounded("attempts", TimerRecord.MAX_ATTEMPTS_KEPT, attempts(object)));
    String payloadHash = object.textOrNull("payloadHash");
    if (payloadHash != null && (!state.isFinished() || !SHA_256.matcher(payloadHash).matches())) {
      throw new IllegalArgumentException(
          "payloadHash: "
              + payloadHash
              + " (expected: 64 hexadecimal digits, of a finished timer)");
    }
    object.end();
    return new CopiedTimer(record, payloadHash);
  }

  /** Reads a version that leaves room for later ones. */
  private static long version(String property, JsonObject object) {
    long version = object.count(property);
    if (version > MAX_VERSION) {
      throw new IllegalArgumentException(
          property + ": " + version + " (expected: at most " + MAX_VERSION + ")");
    }
    return version;
  }

  private static <T> List<T> bounded(String property, int max, List<T> elements) {
    if (elements.size() > max) {
      throw new IllegalArgumentException(
          property + ": " + elements.size() + " (expected: at most " + max + ")");
    }
    return elements;
  }

  private static TimerDefinition definition(TimerKey key, JsonObject object) {
    boolean queue = object.has("queue");
    String target = object.text(queue ? "queue" : "handler");
    String recurrence =
        object.has("recurrence")
            ? object.parsed("recurrence", text -> Recurrence.parse(text).toString())
            : "";
    byte[] payload = object.parsed("payload", Base64.getDecoder()::decode);
    Map<String, String> headers = object.textMap("headers");
    // Called for its validation.
    TimerSpec spec = TimerSpec.of(key.namespace(), key.id());
    (queue ? spec.queue(target) : spec.handler(target)).payload(payload).headers(headers);
    JsonObject retry = object.object("retry");
    RetryPolicy policy =
        new RetryPolicy(
            retry.smallCount("maxAttempts"),
            retry.parsed("backoff", Duration::parse),
            retry.parsed("maxBackoff", Duration::parse));
    retry.end();
    return new TimerDefinition(
        recurrence,
        target,
        queue,
        payload,
        headers,
        policy,
        object.constant("missed", MissedRuns.class),
        object.count("graceMillis"));
  }

  @SuppressWarnings("NullAway") // it misses annotations on nested types, as in Claim
  private static @Nullable Claim claim(@Nullable JsonObject object) {
    if (object == null) {
      return null;
    }
    long until = object.number("until", TimerRecord.NEVER);
    ClaimToken token = new ClaimToken(object.number("tokenHigh"), object.number("tokenLow"));
    Claim claim =
        new Claim(
            token,
            object.count("version"),
            object.number("scheduledAt"),
            object.smallCount("attempt"),
            object.count("epoch"),
            object.number("beganAt"),
            until,
            object.has("end") ? object.constant("end", Attempt.End.class) : null);
    object.end();
    return claim;
  }

  private static List<Attempt> attempts(JsonObject object) {
    List<Attempt> attempts = new ArrayList<>();
    for (JsonObject attempt : object.objects("attempts")) {
      attempts.add(
          new Attempt(
              attempt.smallCount("number"),
              attempt.number("scheduledAt"),
              attempt.number("beganAt"),
              attempt.number("endedAt"),
              attempt.constant("end", Attempt.End.class),
              attempt.textOrNull("error")));
      attempt.end();
    }
    return attempts;
  }
}
