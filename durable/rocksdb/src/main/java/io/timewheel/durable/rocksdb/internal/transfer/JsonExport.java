// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.transfer;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.spi.CopiedTimer;
import io.timewheel.durable.spi.TimerSink;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.core.exc.JacksonIOException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonWriteFeature;

/**
 * Writes timers as lines of JSON: a header, one line for each timer, and a last line with the
 * number of timers. Times are in milliseconds since 1970, payloads in base64. Properties with their
 * default value are left out.
 */
public final class JsonExport implements TimerSink, AutoCloseable {
  static final String KIND = "timers";
  static final int FORMAT = 1;

  // Escape non-ASCII characters, because an unpaired surrogate cannot be encoded in UTF-8.
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .disable(StreamWriteFeature.AUTO_CLOSE_TARGET)
          .rootValueSeparator("\n")
          .build();

  private final Writer writer;
  private final JsonGenerator json;
  private long timers;

  public JsonExport(OutputStream out) {
    writer = new BufferedWriter(new OutputStreamWriter(out, UTF_8));
    json = FACTORY.createGenerator(ObjectWriteContext.empty(), writer);
  }

  /** {@return the number of timers that were written} */
  public long timers() {
    return timers;
  }

  private static void writing(Runnable work) {
    try {
      work.run();
    } catch (JacksonIOException e) {
      throw unwrap(e);
    }
  }

  static UncheckedIOException unwrap(JacksonIOException e) {
    return new UncheckedIOException(e.getCause());
  }

  @Override
  public void begin(long lastVersion, Set<String> paused) {
    writing(() -> header(lastVersion, paused));
  }

  @Override
  public void take(CopiedTimer timer) {
    writing(() -> timer(timer));
  }

  @Override
  public void end() {
    writing(this::last);
  }

  private void header(long lastVersion, Set<String> paused) {
    json.writeStartObject();
    json.writeStringProperty("timewheel", KIND);
    json.writeNumberProperty("format", FORMAT);
    json.writeNumberProperty("lastVersion", lastVersion);
    json.writeArrayPropertyStart("paused");
    paused.stream().sorted().forEach(json::writeString);
    json.writeEndArray();
    json.writeEndObject();
  }

  private void timer(CopiedTimer timer) {
    TimerRecord record = timer.record();
    timers++;
    json.writeStartObject();
    json.writeStringProperty("namespace", record.key().namespace());
    json.writeStringProperty("id", record.key().id());
    json.writeNumberProperty("version", record.version());
    json.writeNumberProperty("revision", record.revision());
    json.writeStringProperty("state", record.state().name());
    json.writeNumberProperty("dueAt", record.dueAt());
    number("fireAt", record.fireAt(), TimerRecord.NEVER);
    number("runAt", record.runAt(), TimerRecord.NONE);
    number("attempt", record.attempt(), 0);
    number("runs", record.runs(), 0);
    definition(record.definition());
    text("payloadHash", timer.payloadHash());
    flag("paused", record.paused());
    flag("cancelRequested", record.cancelRequested());
    json.writeNumberProperty("createdAt", record.createdAt());
    json.writeNumberProperty("changedAt", record.changedAt());
    text("note", record.note());
    text("trace", record.trace());
    claim("claim", record.claim());
    claim("former", record.former());
    if (!record.attempts().isEmpty()) {
      json.writeArrayPropertyStart("attempts");
      record.attempts().forEach(this::attempt);
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  private void definition(TimerDefinition definition) {
    json.writeStringProperty(definition.queue() ? "queue" : "handler", definition.handler());
    if (definition.isRecurring()) {
      json.writeStringProperty("recurrence", definition.recurrence());
    }
    json.writeBinaryProperty("payload", definition.payload());
    if (!definition.headers().isEmpty()) {
      json.writeObjectPropertyStart("headers");
      definition.headers().forEach(json::writeStringProperty);
      json.writeEndObject();
    }
    json.writeObjectPropertyStart("retry");
    json.writeNumberProperty("maxAttempts", definition.retry().maxAttempts());
    json.writeStringProperty("backoff", definition.retry().backoff().toString());
    json.writeStringProperty("maxBackoff", definition.retry().maxBackoff().toString());
    json.writeEndObject();
    json.writeStringProperty("missed", definition.missed().name());
    json.writeNumberProperty("graceMillis", definition.graceMillis());
  }

  private void claim(String property, @Nullable Claim claim) {
    if (claim == null) {
      return;
    }
    json.writeObjectPropertyStart(property);
    json.writeNumberProperty("tokenHigh", claim.token().high());
    json.writeNumberProperty("tokenLow", claim.token().low());
    json.writeNumberProperty("version", claim.version());
    json.writeNumberProperty("scheduledAt", claim.scheduledAt());
    json.writeNumberProperty("attempt", claim.attempt());
    json.writeNumberProperty("epoch", claim.epoch());
    json.writeNumberProperty("beganAt", claim.beganAt());
    number("until", claim.until(), TimerRecord.NEVER);
    text("end", claim.end() == null ? null : claim.end().name());
    json.writeEndObject();
  }

  private void attempt(Attempt attempt) {
    json.writeStartObject();
    json.writeNumberProperty("number", attempt.number());
    json.writeNumberProperty("scheduledAt", attempt.scheduledAtMillis());
    json.writeNumberProperty("beganAt", attempt.beganAtMillis());
    json.writeNumberProperty("endedAt", attempt.endedAtMillis());
    json.writeStringProperty("end", attempt.end().name());
    text("error", attempt.error());
    json.writeEndObject();
  }

  private void number(String property, long value, long usual) {
    if (value != usual) {
      json.writeNumberProperty(property, value);
    }
  }

  private void flag(String property, boolean value) {
    if (value) {
      json.writeBooleanProperty(property, true);
    }
  }

  private void text(String property, @Nullable String value) {
    if (value != null) {
      json.writeStringProperty(property, value);
    }
  }

  private void last() {
    json.writeStartObject();
    json.writeNumberProperty("timers", timers);
    json.writeEndObject();
    json.flush();
    try {
      writer.write("\n");
      writer.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    json.close();
  }
}
