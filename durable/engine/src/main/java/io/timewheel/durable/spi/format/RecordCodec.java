// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Encodes records, whole or in parts. The first byte is the version of the encoding. The key is not
 * part of it.
 *
 * <ul>
 *   <li>The <em>spec</em> is the definition without its target and payload. It is written once per
 *       version. Plain settings are empty.
 *   <li>The <em>progress</em> is the state so far: claims, attempts, notes. It is absent before the
 *       first attempt.
 *   <li>The <em>whole</em> record contains both. Its times are differences from the due time, which
 *       need few bytes. They may overflow, and are still decoded exactly.
 * </ul>
 *
 * <p>A payload of more than {@link #MAX_INLINE_BYTES} may be stored apart from the whole record.
 * Then a change of the timer's state does not rewrite it.
 */
public final class RecordCodec {
  /** The version of the encoding. */
  public static final int FORMAT = 3;

  static final int MAX_INLINE_BYTES = 1024;

  private static final byte[] NO_BYTES = {};

  /** The settings of an empty spec. They must never change. */
  private static final RetryPolicy PLAIN_RETRY =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  private static final long PLAIN_GRACE_MILLIS = 60_000;

  // Flags of a whole record

  private static final int QUEUE = 1;
  private static final int PAUSED = 1 << 1;
  private static final int CANCEL_REQUESTED = 1 << 2;
  private static final int PAYLOAD_APART = 1 << 3;
  private static final int SPEC = 1 << 4;
  private static final int PROGRESS = 1 << 5;

  /** The flag of a spec that contains its retry policy, because it is not {@link #PLAIN_RETRY}. */
  private static final int OWN_RETRY = 1;

  // Flags of a progress

  private static final int RUN_AT = 1;
  private static final int CLAIM = 1 << 1;
  private static final int FORMER = 1 << 2;
  private static final int NOTE = 1 << 3;
  private static final int RUNS = 1 << 4;
  private static final int TRACE = 1 << 5;

  private static final int CLAIM_HAS_LEASE = 1;
  private static final int CLAIM_HAS_ENDED = 1 << 1;
  private static final int ATTEMPT_HAS_ERROR = 1;

  private RecordCodec() {}

  /** The state so far. */
  public record Progress(
      long runAt,
      long runs,
      @Nullable Claim claim,
      @Nullable Claim former,
      @Nullable String note,
      @Nullable String trace,
      List<Attempt> attempts) {
    static final Progress NONE =
        new Progress(TimerRecord.NONE, 0, null, null, null, null, List.of());

    static Progress of(TimerRecord record) {
      return new Progress(
          record.runAt(),
          record.runs(),
          record.claim(),
          record.former(),
          record.note(),
          record.trace(),
          record.attempts());
    }
  }

  /**
   * Contains a record as it is stored.
   *
   * @param record the record; without its payload if that is stored separately and was not read
   * @param payloadApart true if the payload is stored separately
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

  // Writing

  public static byte[] encodeSpec(TimerDefinition definition) {
    if (isPlain(definition)) {
      return NO_BYTES;
    }
    ByteWriter to = new ByteWriter().u8(FORMAT);
    spec(definition, to);
    return to.toBytes();
  }

  public static byte @Nullable [] encodeProgress(TimerRecord record) {
    Progress progress = Progress.of(record);
    if (progress.equals(Progress.NONE)) {
      return null;
    }
    ByteWriter to = new ByteWriter().u8(FORMAT);
    progress(progress, 0, to);
    return to.toBytes();
  }

  public static byte[] encode(TimerRecord record, boolean payloadApart, ByteWriter to) {
    TimerDefinition definition = record.definition();
    Progress progress = Progress.of(record);
    boolean hasProgress = !progress.equals(Progress.NONE);
    boolean hasSpec = !isPlain(definition);
    int flags =
        (definition.queue() ? QUEUE : 0)
            | (record.paused() ? PAUSED : 0)
            | (record.cancelRequested() ? CANCEL_REQUESTED : 0)
            | (payloadApart ? PAYLOAD_APART : 0)
            | (hasSpec ? SPEC : 0)
            | (hasProgress ? PROGRESS : 0);
    long dueAt = record.dueAt();
    to.reset().u8(FORMAT).u8(Codes.STATES.of(record.state())).u8(flags);
    to.unsigned(record.version()).unsigned(record.revision()).fixed64(dueAt);
    to.signed(record.fireAt() - dueAt).unsigned(record.attempt());
    to.signed(record.createdAt() - dueAt).signed(record.changedAt() - record.createdAt());
    to.sized(definition.handler());
    if (!payloadApart) {
      to.sized(definition.payload());
    }
    if (hasSpec) {
      spec(definition, to);
    }
    if (hasProgress) {
      progress(progress, dueAt, to);
    }
    return to.toBytes();
  }

  private static boolean isPlain(TimerDefinition definition) {
    return definition.recurrence().isEmpty()
        && definition.headers().isEmpty()
        && definition.retry().equals(PLAIN_RETRY)
        && definition.missed() == MissedRuns.FIRE_ONCE
        && definition.graceMillis() == PLAIN_GRACE_MILLIS;
  }

  private static void spec(TimerDefinition definition, ByteWriter to) {
    RetryPolicy retry = definition.retry();
    boolean ownRetry = !retry.equals(PLAIN_RETRY);
    to.u8(ownRetry ? OWN_RETRY : 0).sized(definition.recurrence());
    to.u8(Codes.MISSED.of(definition.missed())).signed(definition.graceMillis());
    to.unsigned(definition.headers().size());
    definition.headers().forEach((name, value) -> to.sized(name).sized(value));
    if (ownRetry) {
      to.unsigned(retry.maxAttempts());
      duration(retry.backoff(), to);
      duration(retry.maxBackoff(), to);
    }
  }

  private static void duration(Duration duration, ByteWriter to) {
    to.signed(duration.getSeconds()).unsigned(duration.getNano());
  }

  private static void progress(Progress progress, long dueAt, ByteWriter to) {
    Claim claim = progress.claim();
    Claim former = progress.former();
    String note = progress.note();
    String trace = progress.trace();
    to.u8(
        (progress.runAt() != TimerRecord.NONE ? RUN_AT : 0)
            | (claim != null ? CLAIM : 0)
            | (former != null ? FORMER : 0)
            | (note != null ? NOTE : 0)
            | (progress.runs() != 0 ? RUNS : 0)
            | (trace != null ? TRACE : 0));
    if (progress.runAt() != TimerRecord.NONE) {
      to.signed(progress.runAt() - dueAt);
    }
    if (claim != null) {
      claim(claim, dueAt, to);
    }
    if (former != null) {
      claim(former, dueAt, to);
    }
    if (note != null) {
      to.sized(note);
    }
    if (progress.runs() != 0) {
      to.unsigned(progress.runs());
    }
    if (trace != null) {
      to.sized(trace);
    }
    to.unsigned(progress.attempts().size());
    for (Attempt attempt : progress.attempts()) {
      attempt(attempt, dueAt, to);
    }
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
   * Decodes a spec.
   *
   * @throws MalformedException if the bytes are not a spec, or have another version
   */
  public static TimerDefinition decodeSpec(
      byte[] bytes, String handler, boolean queue, byte[] payload) {
    return bytes.length == 0
        ? plain(handler, queue, payload)
        : read(bytes, from -> spec(from, handler, queue, payload));
  }

  /**
   * Decodes a progress.
   *
   * @throws MalformedException if the bytes are not a progress, or have another version
   */
  public static Progress decodeProgress(byte @Nullable [] bytes) {
    return bytes == null ? Progress.NONE : read(bytes, from -> progress(0, from));
  }

  /**
   * Decodes a whole record.
   *
   * @throws MalformedException if the bytes are not a record, or have another version
   */
  public static Stored decode(TimerKey key, byte[] bytes, Payloads payloads) {
    return read(bytes, from -> whole(key, from, payloads));
  }

  private static <T> T read(byte[] bytes, Function<ByteReader, T> part) {
    try {
      ByteReader from = new ByteReader(bytes);
      format(from);
      T decoded = part.apply(from);
      from.end();
      return decoded;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new MalformedException(String.valueOf(e.getMessage()));
    }
  }

  /** Reads the version of an encoding. */
  public static void format(ByteReader from) {
    int format = from.u8();
    if (format != FORMAT) {
      throw new MalformedException("it has format " + format + " (expected: " + FORMAT + ")");
    }
  }

  private static Stored whole(TimerKey key, ByteReader from, Payloads payloads) {
    TimerState state = Codes.STATES.at(from.u8());
    int flags = from.u8();
    long version = from.unsigned();
    long revision = from.unsigned();
    long dueAt = from.fixed64();
    long fireAt = dueAt + from.signed();
    int attempt = from.unsignedInt();
    long createdAt = dueAt + from.signed();
    long changedAt = createdAt + from.signed();
    boolean queue = (flags & QUEUE) != 0;
    boolean payloadApart = (flags & PAYLOAD_APART) != 0;
    String handler = from.sizedText();
    byte[] payload = payloadApart ? payloads.read() : from.sized();
    TimerDefinition definition =
        (flags & SPEC) != 0 ? spec(from, handler, queue, payload) : plain(handler, queue, payload);
    Progress progress = (flags & PROGRESS) != 0 ? progress(dueAt, from) : Progress.NONE;
    TimerRecord record =
        new TimerRecord(
            key,
            version,
            revision,
            state,
            definition,
            dueAt,
            fireAt,
            progress.runAt(),
            attempt,
            progress.runs(),
            progress.claim(),
            progress.former(),
            (flags & PAUSED) != 0,
            (flags & CANCEL_REQUESTED) != 0,
            createdAt,
            changedAt,
            progress.note(),
            progress.trace(),
            progress.attempts());
    return new Stored(record, payloadApart);
  }

  private static TimerDefinition plain(String handler, boolean queue, byte[] payload) {
    return new TimerDefinition(
        "",
        handler,
        queue,
        payload,
        Map.of(),
        PLAIN_RETRY,
        MissedRuns.FIRE_ONCE,
        PLAIN_GRACE_MILLIS);
  }

  private static TimerDefinition spec(
      ByteReader from, String handler, boolean queue, byte[] payload) {
    boolean ownRetry = (from.u8() & OWN_RETRY) != 0;
    String recurrence = from.sizedText();
    MissedRuns missed = Codes.MISSED.at(from.u8());
    long graceMillis = from.signed();
    int count = from.count();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(from.sizedText(), from.sizedText());
    }
    RetryPolicy retry =
        ownRetry
            ? new RetryPolicy(from.unsignedInt(), duration(from), duration(from))
            : PLAIN_RETRY;
    return new TimerDefinition(
        recurrence, handler, queue, payload, headers, retry, missed, graceMillis);
  }

  private static Duration duration(ByteReader from) {
    return Duration.ofSeconds(from.signed(), from.unsignedInt());
  }

  private static Progress progress(long dueAt, ByteReader from) {
    int flags = from.u8();
    long runAt = (flags & RUN_AT) != 0 ? dueAt + from.signed() : TimerRecord.NONE;
    Claim claim = (flags & CLAIM) != 0 ? claim(dueAt, from) : null;
    Claim former = (flags & FORMER) != 0 ? claim(dueAt, from) : null;
    String note = (flags & NOTE) != 0 ? from.sizedText() : null;
    long runs = (flags & RUNS) != 0 ? from.unsigned() : 0;
    String trace = (flags & TRACE) != 0 ? from.sizedText() : null;
    List<Attempt> attempts = new ArrayList<>();
    for (int i = from.count(); i > 0; i--) {
      attempts.add(attempt(dueAt, from));
    }
    return new Progress(runAt, runs, claim, former, note, trace, attempts);
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
}
