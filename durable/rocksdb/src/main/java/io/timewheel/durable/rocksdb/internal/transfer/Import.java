// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.transfer;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.internal.time.Recurrence;
import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;

/** Reads and validates the output of {@link Export}. */
public final class Import {
  private static final int MAX_TEXT = 1 << 20;
  private static final long MAX_VERSION = 1L << 62;

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

  /** The content of the first line. */
  public record Header(long lastVersion, List<String> paused) {}

  /** Receives timers in the order of the lines. */
  public interface Target {
    void begin(Header header);

    void take(List<TimerRecord> records);
  }

  private final int batch;
  private long line = 1;
  private long timers;

  public Import(int batch) {
    this.batch = batch;
  }

  public void read(InputStream in, Target target) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
      read(parser, target);
    } catch (JacksonIOException e) {
      throw Export.unwrap(e);
    } catch (JacksonException e) {
      long at = e.getLocation() == null ? line : e.getLocation().getLineNr();
      throw refused(at, "is no JSON: " + e.getOriginalMessage(), e);
    }
  }

  private IllegalArgumentException refused(long at, String why, @Nullable RuntimeException cause) {
    return new IllegalArgumentException("line " + at + ": " + why, cause);
  }

  private void read(JsonParser parser, Target target) {
    List<TimerRecord> waiting = new ArrayList<>();
    boolean[] ended = {false};
    next(parser, object -> target.begin(header(object)));
    while (!ended[0]) {
      next(
          parser,
          object -> {
            if (object.has("timers")) {
              ended[0] = true;
              end(object);
            } else {
              waiting.add(timer(object));
              timers++;
            }
          });
      if (ended[0] && parser.nextToken() != null) {
        line = parser.currentTokenLocation().getLineNr();
        throw refused(line, "comes after the last line of the export", null);
      }
      if (waiting.size() == batch || ended[0]) {
        target.take(waiting);
        waiting.clear();
      }
    }
  }

  private void next(JsonParser parser, Consumer<JsonObject> visitor) {
    JsonToken token = parser.nextToken();
    if (token == null) {
      throw refused(
          line,
          "the export ends here, after " + timers + " timers, without the line that ends it",
          null);
    }
    line = parser.currentTokenLocation().getLineNr();
    if (token != JsonToken.START_OBJECT) {
      throw refused(line, "is no object", null);
    }
    try {
      visitor.accept(JsonObject.read(parser));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw refused(line, String.valueOf(e.getMessage()), e);
    }
  }

  private static Header header(JsonObject object) {
    String kind = object.textOrNull("timewheel");
    if (!Export.KIND.equals(kind)) {
      throw new IllegalArgumentException("this is no export of timers");
    }
    long format = object.number("format");
    if (format != Export.FORMAT) {
      throw new IllegalArgumentException(
          "format: " + format + " (expected: " + Export.FORMAT + "; a newer release reads it)");
    }
    Header header = new Header(version("lastVersion", object), object.texts("paused"));
    object.end();
    header.paused().forEach(Import::checkScope);
    return header;
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
          "timers: " + count + " (expected: " + timers + ", as there are lines)");
    }
  }

  private static TimerRecord timer(JsonObject object) {
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
            claim,
            claim(object.objectOrNull("former")),
            object.flag("paused"),
            object.flag("cancelRequested"),
            object.number("createdAt"),
            object.number("changedAt"),
            object.textOrNull("note"),
            bounded("attempts", TimerRecord.MAX_ATTEMPTS_KEPT, attempts(object)));
    object.end();
    return record;
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
    TimerSpec.of(key.namespace(), key.id()).handler(target).payload(payload).headers(headers);
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
    boolean lease = until != TimerRecord.NEVER;
    object.count("epoch");
    // A consumer may still use its claim. The attempt of a handler is lost: its epoch is set below
    // all epochs of this store, and its token to one that this store never issues.
    Claim claim =
        new Claim(
            lease ? token : new ClaimToken(token.high() | Long.MIN_VALUE, token.low()),
            object.count("version"),
            object.number("scheduledAt"),
            object.smallCount("attempt"),
            0,
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
