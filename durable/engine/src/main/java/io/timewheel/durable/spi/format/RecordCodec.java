// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Codes;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.TimerDefinition;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes records and due entries. The first byte is the version of the encoding. The key is not
 * part of the encoding. Times are stored as differences from the due time, which need few bytes.
 * The differences may overflow, and are still decoded exactly.
 *
 * <p>A payload of more than {@link #MAX_INLINE_BYTES} is stored in a family of its own. Each change
 * of the timer's state rewrites its record, but not its payload.
 */
public final class RecordCodec {
  static final int FORMAT = 2;
  static final int MAX_INLINE_BYTES = 1024;

  private static final byte[] NO_BYTES = {};

  private static final int QUEUE = 1;
  private static final int PAUSED = 1 << 1;
  private static final int CANCEL_REQUESTED = 1 << 2;
  private static final int CLAIM = 1 << 3;
  private static final int FORMER = 1 << 4;
  private static final int NOTE = 1 << 5;
  private static final int PAYLOAD_APART = 1 << 6;
  private static final int RUN_AT = 1 << 7;

  /** Flags in the byte of the state, whose codes are smaller. */
  private static final int RUNS = 1 << 7;

  private static final int TRACE = 1 << 6;

  private static final int RECURRING = 1 << 1;
  private static final int DEFERRED = 1 << 2;

  private static final int CLAIM_HAS_LEASE = 1;
  private static final int CLAIM_HAS_ENDED = 1 << 1;
  private static final int ATTEMPT_HAS_ERROR = 1;

  private RecordCodec() {}

  /** {@return the value of a key that has no data: only the version of the encoding} */
  public static byte[] present() {
    return new byte[] {FORMAT};
  }

  /**
   * Contains a record as it is stored.
   *
   * @param record the record; without its payload if that is stored separately and was not read
   * @param payloadApart true if the payload is stored in its own family
   */
  public record Stored(TimerRecord record, boolean payloadApart) {}

  /** Reads the payload of a record that is stored separately. */
  public interface Payloads {
    byte[] read();
  }

  /** Leaves out separately stored payloads. */
  public static final Payloads LEFT_OUT = () -> NO_BYTES;

  public static boolean isPayloadApart(TimerRecord record) {
    return record.definition().payload().length > MAX_INLINE_BYTES;
  }

  public static byte[] encode(TimerRecord record, boolean payloadApart, ByteWriter to) {
    Claim claim = record.claim();
    Claim former = record.former();
    String note = record.note();
    int flags =
        (record.definition().queue() ? QUEUE : 0)
            | (record.paused() ? PAUSED : 0)
            | (record.cancelRequested() ? CANCEL_REQUESTED : 0)
            | (claim != null ? CLAIM : 0)
            | (former != null ? FORMER : 0)
            | (note != null ? NOTE : 0)
            | (payloadApart ? PAYLOAD_APART : 0)
            | (record.runAt() != TimerRecord.NONE ? RUN_AT : 0);
    long dueAt = record.dueAt();
    String trace = record.trace();
    int state =
        Codes.STATES.of(record.state())
            | (record.runs() != 0 ? RUNS : 0)
            | (trace != null ? TRACE : 0);
    to.reset().u8(FORMAT).u8(state).u8(flags);
    to.unsigned(record.version()).unsigned(record.revision()).fixed64(dueAt);
    to.signed(record.fireAt() - dueAt).unsigned(record.attempt());
    to.signed(record.createdAt() - dueAt).signed(record.changedAt() - record.createdAt());
    if (record.runAt() != TimerRecord.NONE) {
      to.signed(record.runAt() - dueAt);
    }
    definition(record.definition(), payloadApart, to);
    if (claim != null) {
      claim(claim, dueAt, to);
    }
    if (former != null) {
      claim(former, dueAt, to);
    }
    if (note != null) {
      to.sized(note);
    }
    to.unsigned(record.attempts().size());
    for (Attempt attempt : record.attempts()) {
      attempt(attempt, dueAt, to);
    }
    if (record.runs() != 0) {
      to.unsigned(record.runs());
    }
    if (trace != null) {
      to.sized(trace);
    }
    return to.toBytes();
  }

  private static void definition(TimerDefinition definition, boolean payloadApart, ByteWriter to) {
    to.sized(definition.handler()).sized(definition.recurrence());
    if (!payloadApart) {
      to.sized(definition.payload());
    }
    to.unsigned(definition.headers().size());
    definition.headers().forEach((name, value) -> to.sized(name).sized(value));
    to.unsigned(definition.retry().maxAttempts());
    duration(definition.retry().backoff(), to);
    duration(definition.retry().maxBackoff(), to);
    to.u8(Codes.MISSED.of(definition.missed())).signed(definition.graceMillis());
  }

  private static void duration(Duration duration, ByteWriter to) {
    to.signed(duration.getSeconds()).unsigned(duration.getNano());
  }

  private static void claim(Claim claim, long dueAt, ByteWriter to) {
    Attempt.End end = claim.end();
    boolean leased = claim.until() != TimerRecord.NEVER;
    to.u8((leased ? CLAIM_HAS_LEASE : 0) | (end != null ? CLAIM_HAS_ENDED : 0));
    to.fixed64(claim.token().high()).fixed64(claim.token().low());
    to.unsigned(claim.version()).signed(claim.scheduledAt() - dueAt);
    to.unsigned(claim.attempt()).unsigned(claim.epoch()).signed(claim.beganAt() - dueAt);
    if (leased) {
      to.signed(claim.until() - claim.beganAt());
    }
    if (end != null) {
      to.u8(Codes.ENDS.of(end));
    }
  }

  private static void attempt(Attempt attempt, long dueAt, ByteWriter to) {
    String error = attempt.error();
    to.u8(error != null ? ATTEMPT_HAS_ERROR : 0).u8(Codes.ENDS.of(attempt.end()));
    to.unsigned(attempt.number()).signed(attempt.scheduledAtMillis() - dueAt);
    to.signed(attempt.beganAtMillis() - dueAt);
    to.signed(attempt.endedAtMillis() - attempt.beganAtMillis());
    if (error != null) {
      to.sized(error);
    }
  }

  // Reading

  /**
   * Decodes a record.
   *
   * @throws MalformedException if the bytes are not a record, or have another version
   */
  public static Stored decode(TimerKey key, byte[] bytes, Payloads payloads) {
    try {
      return decode(key, new ByteReader(bytes), payloads);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  private static void format(ByteReader from) {
    int format = from.u8();
    if (format != FORMAT) {
      throw new MalformedException("it has format " + format + " (expected: " + FORMAT + ")");
    }
  }

  private static Stored decode(TimerKey key, ByteReader from, Payloads payloads) {
    format(from);
    int stateAndMore = from.u8();
    TimerState state = Codes.STATES.at(stateAndMore & ~(RUNS | TRACE));
    int flags = from.u8();
    long version = from.unsigned();
    long revision = from.unsigned();
    long dueAt = from.fixed64();
    long fireAt = dueAt + from.signed();
    int attempt = from.unsignedInt();
    long createdAt = dueAt + from.signed();
    long changedAt = createdAt + from.signed();
    long runAt = (flags & RUN_AT) != 0 ? dueAt + from.signed() : TimerRecord.NONE;
    boolean payloadApart = (flags & PAYLOAD_APART) != 0;
    TimerDefinition definition =
        definition(from, (flags & QUEUE) != 0, payloadApart ? payloads : null);
    Claim claim = (flags & CLAIM) != 0 ? claim(dueAt, from) : null;
    Claim former = (flags & FORMER) != 0 ? claim(dueAt, from) : null;
    String note = (flags & NOTE) != 0 ? from.sizedText() : null;
    List<Attempt> attempts = new ArrayList<>();
    for (int i = from.count(); i > 0; i--) {
      attempts.add(attempt(dueAt, from));
    }
    long runs = (stateAndMore & RUNS) != 0 ? from.unsigned() : 0;
    String trace = (stateAndMore & TRACE) != 0 ? from.sizedText() : null;
    from.end();
    TimerRecord record =
        new TimerRecord(
            key,
            version,
            revision,
            state,
            definition,
            dueAt,
            fireAt,
            runAt,
            attempt,
            runs,
            claim,
            former,
            (flags & PAUSED) != 0,
            (flags & CANCEL_REQUESTED) != 0,
            createdAt,
            changedAt,
            note,
            trace,
            attempts);
    return new Stored(record, payloadApart);
  }

  private static TimerDefinition definition(
      ByteReader from, boolean queue, @Nullable Payloads payloads) {
    String handler = from.sizedText();
    String recurrence = from.sizedText();
    byte[] payload = payloads == null ? from.sized() : payloads.read();
    int count = from.count();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(from.sizedText(), from.sizedText());
    }
    RetryPolicy retry = new RetryPolicy(from.unsignedInt(), duration(from), duration(from));
    return new TimerDefinition(
        recurrence,
        handler,
        queue,
        payload,
        headers,
        retry.equals(RetryPolicy.DEFAULT) ? RetryPolicy.DEFAULT : retry,
        from.constant(Codes.MISSED),
        from.signed());
  }

  private static Duration duration(ByteReader from) {
    return Duration.ofSeconds(from.signed(), from.unsignedInt());
  }

  @SuppressWarnings("NullAway") // NullAway misses annotations on nested types, as in Claim
  private static Claim claim(long dueAt, ByteReader from) {
    int flags = from.u8();
    ClaimToken token = new ClaimToken(from.fixed64(), from.fixed64());
    long version = from.unsigned();
    long scheduledAt = dueAt + from.signed();
    int attempt = from.unsignedInt();
    long epoch = from.unsigned();
    long beganAt = dueAt + from.signed();
    long until = (flags & CLAIM_HAS_LEASE) != 0 ? beganAt + from.signed() : TimerRecord.NEVER;
    Attempt.End end = (flags & CLAIM_HAS_ENDED) != 0 ? from.constant(Codes.ENDS) : null;
    return new Claim(token, version, scheduledAt, attempt, epoch, beganAt, until, end);
  }

  private static Attempt attempt(long dueAt, ByteReader from) {
    int flags = from.u8();
    Attempt.End end = from.constant(Codes.ENDS);
    int number = from.unsignedInt();
    long scheduledAt = dueAt + from.signed();
    long beganAt = dueAt + from.signed();
    long endedAt = beganAt + from.signed();
    String error = (flags & ATTEMPT_HAS_ERROR) != 0 ? from.sizedText() : null;
    return new Attempt(number, scheduledAt, beganAt, endedAt, end, error);
  }

  // Entries of the due index

  public static byte[] encodeDue(TimerRecord record, ByteWriter to) {
    int flags =
        (record.definition().queue() ? QUEUE : 0)
            | (record.definition().isRecurring() ? RECURRING : 0)
            | (record.isDeferred() ? DEFERRED : 0);
    return to.reset()
        .u8(FORMAT)
        .u8(Codes.STATES.of(record.state()))
        .u8(flags)
        .unsigned(record.version())
        .unsigned(record.revision())
        .text(record.definition().handler())
        .toBytes();
  }

  /** {@return the state in an entry of the due index} */
  public static TimerState decodeDueState(byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    format(from);
    return from.constant(Codes.STATES);
  }

  public static DueTimer decodeDue(TimerKey key, long fireAt, byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    format(from);
    TimerState state = from.constant(Codes.STATES);
    int flags = from.u8();
    return new DueTimer(
        key,
        fireAt,
        from.unsigned(),
        from.unsigned(),
        state,
        from.text(),
        (flags & QUEUE) != 0,
        (flags & RECURRING) != 0,
        (flags & DEFERRED) != 0);
  }

  /** {@return the encoded answer, without the names in its key} */
  public static byte[] encode(RequestAnswer answer) {
    return new ByteWriter()
        .u8(FORMAT)
        .u8(Codes.ANSWERS.of(answer.answer()))
        .fixed64(answer.version())
        .fixed64(answer.answeredAt())
        .text(answer.request().digest())
        .toBytes();
  }

  public static RequestAnswer decodeAnswer(TimerKey key, String request, byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    format(from);
    Outcome.Answer answer = from.constant(Codes.ANSWERS);
    long version = from.fixed64();
    long answeredAt = from.fixed64();
    return new RequestAnswer(key, new RequestId(request, from.text()), answer, version, answeredAt);
  }
}
