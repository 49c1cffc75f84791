// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.rows;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Codes;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the parts of a record that no statement reads. The <em>spec</em> contains the definition
 * of the timer, and is written once per version. The <em>progress</em> contains its state so far,
 * and is absent before the first attempt. The first byte of each is the version of the encoding.
 * The spec of a timer with default settings is empty.
 */
public final class RecordCodec {
  private static final int FORMAT = 2;

  private static final byte[] NOTHING = {};

  /** The flag of a spec that contains its retry policy, because it is not {@link #PLAIN_RETRY}. */
  private static final int OWN_RETRY = 1;

  /** The retry policy of a spec that contains none. It must never change. */
  private static final RetryPolicy PLAIN_RETRY =
      new RetryPolicy(5, Duration.ofSeconds(1), Duration.ofMinutes(1));

  private static final int RUN_AT = 1;
  private static final int CLAIM = 1 << 1;
  private static final int FORMER = 1 << 2;
  private static final int NOTE = 1 << 3;
  private static final int RUNS = 1 << 4;
  private static final int TRACE = 1 << 5;

  private RecordCodec() {}

  /** The definition, without the handler and the payload, which have columns. */
  public record Spec(
      String recurrence,
      Map<String, String> headers,
      RetryPolicy retry,
      int missed,
      long graceMillis) {
    /** The definition that the empty encoding stands for. It must never change. */
    static final Spec EMPTY =
        new Spec("", Map.of(), PLAIN_RETRY, Codes.MISSED.of(MissedRuns.FIRE_ONCE), 60_000);
  }

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

  private interface Body {
    void write(DataOutputStream to) throws IOException;
  }

  private static byte[] bytes(Body body) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
    try (DataOutputStream to = new DataOutputStream(bytes)) {
      to.writeByte(FORMAT);
      body.write(to);
    } catch (IOException e) { // writeUTF refuses a text that is too long
      throw new StoreException(
          StoreException.Kind.REJECTED, "a text of the timer is too long: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  private static DataInputStream open(byte[] bytes) throws IOException {
    DataInputStream from = new DataInputStream(new ByteArrayInputStream(bytes));
    int format = from.readUnsignedByte();
    if (format != FORMAT) {
      throw new IOException("it has format " + format + " (expected: " + FORMAT + ")");
    }
    return from;
  }

  static byte[] encode(Spec spec) {
    if (spec.equals(Spec.EMPTY)) {
      return NOTHING;
    }
    boolean ownRetry = !spec.retry().equals(PLAIN_RETRY);
    return bytes(
        to -> {
          to.writeByte(ownRetry ? OWN_RETRY : 0);
          to.writeUTF(spec.recurrence());
          to.writeByte(spec.missed());
          to.writeLong(spec.graceMillis());
          to.writeShort(spec.headers().size());
          for (Map.Entry<String, String> header : spec.headers().entrySet()) {
            to.writeUTF(header.getKey());
            to.writeUTF(header.getValue());
          }
          if (ownRetry) {
            to.writeInt(spec.retry().maxAttempts());
            write(spec.retry().backoff(), to);
            write(spec.retry().maxBackoff(), to);
          }
        });
  }

  public static Spec decodeSpec(byte[] bytes) throws IOException {
    if (bytes.length == 0) {
      return Spec.EMPTY;
    }
    DataInputStream from = open(bytes);
    boolean ownRetry = (from.readUnsignedByte() & OWN_RETRY) != 0;
    String recurrence = from.readUTF();
    int missed = from.readUnsignedByte();
    long graceMillis = from.readLong();
    int count = from.readUnsignedShort();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(from.readUTF(), from.readUTF());
    }
    RetryPolicy retry =
        ownRetry
            ? new RetryPolicy(from.readInt(), readDuration(from), readDuration(from))
            : PLAIN_RETRY;
    return new Spec(recurrence, headers, retry, missed, graceMillis);
  }

  private static void write(Duration duration, DataOutputStream to) throws IOException {
    to.writeLong(duration.getSeconds());
    to.writeInt(duration.getNano());
  }

  private static Duration readDuration(DataInputStream from) throws IOException {
    return Duration.ofSeconds(from.readLong(), from.readInt());
  }

  static byte @Nullable [] encode(Progress progress) {
    if (progress.equals(Progress.NONE)) {
      return null;
    }
    Claim claim = progress.claim();
    Claim former = progress.former();
    String note = progress.note();
    String trace = progress.trace();
    return bytes(
        to -> {
          to.writeByte(
              (progress.runAt() != TimerRecord.NONE ? RUN_AT : 0)
                  | (claim != null ? CLAIM : 0)
                  | (former != null ? FORMER : 0)
                  | (note != null ? NOTE : 0)
                  | (progress.runs() != 0 ? RUNS : 0)
                  | (trace != null ? TRACE : 0));
          if (progress.runAt() != TimerRecord.NONE) {
            to.writeLong(progress.runAt());
          }
          if (claim != null) {
            write(claim, to);
          }
          if (former != null) {
            write(former, to);
          }
          if (note != null) {
            to.writeUTF(note);
          }
          if (progress.runs() != 0) {
            to.writeLong(progress.runs());
          }
          if (trace != null) {
            to.writeUTF(trace);
          }
          to.writeByte(progress.attempts().size());
          for (Attempt attempt : progress.attempts()) {
            write(attempt, to);
          }
        });
  }

  public static Progress decodeProgress(byte @Nullable [] bytes) throws IOException {
    if (bytes == null) {
      return Progress.NONE;
    }
    DataInputStream from = open(bytes);
    int flags = from.readUnsignedByte();
    long runAt = (flags & RUN_AT) != 0 ? from.readLong() : TimerRecord.NONE;
    Claim claim = (flags & CLAIM) != 0 ? readClaim(from) : null;
    Claim former = (flags & FORMER) != 0 ? readClaim(from) : null;
    String note = (flags & NOTE) != 0 ? from.readUTF() : null;
    long runs = (flags & RUNS) != 0 ? from.readLong() : 0;
    String trace = (flags & TRACE) != 0 ? from.readUTF() : null;
    int count = from.readUnsignedByte();
    List<Attempt> attempts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      attempts.add(readAttempt(from));
    }
    return new Progress(runAt, runs, claim, former, note, trace, attempts);
  }

  private static void write(Claim claim, DataOutputStream to) throws IOException {
    Attempt.End end = claim.end();
    to.writeLong(claim.token().high());
    to.writeLong(claim.token().low());
    to.writeLong(claim.version());
    to.writeLong(claim.scheduledAt());
    to.writeInt(claim.attempt());
    to.writeLong(claim.epoch());
    to.writeLong(claim.beganAt());
    to.writeLong(claim.until());
    to.writeByte(end == null ? -1 : Codes.ENDS.of(end));
  }

  @SuppressWarnings("NullAway") // NullAway misses annotations on nested types, as in Claim
  private static Claim readClaim(DataInputStream from) throws IOException {
    ClaimToken token = new ClaimToken(from.readLong(), from.readLong());
    long version = from.readLong();
    long scheduledAt = from.readLong();
    int attempt = from.readInt();
    long epoch = from.readLong();
    long beganAt = from.readLong();
    long until = from.readLong();
    int end = from.readByte();
    return new Claim(
        token,
        version,
        scheduledAt,
        attempt,
        epoch,
        beganAt,
        until,
        end < 0 ? null : Codes.ENDS.at(end));
  }

  private static void write(Attempt attempt, DataOutputStream to) throws IOException {
    String error = attempt.error();
    to.writeInt(attempt.number());
    to.writeLong(attempt.scheduledAtMillis());
    to.writeLong(attempt.beganAtMillis());
    to.writeLong(attempt.endedAtMillis());
    to.writeByte(Codes.ENDS.of(attempt.end()));
    to.writeBoolean(error != null);
    if (error != null) {
      to.writeUTF(error);
    }
  }

  private static Attempt readAttempt(DataInputStream from) throws IOException {
    return new Attempt(
        from.readInt(),
        from.readLong(),
        from.readLong(),
        from.readLong(),
        Codes.ENDS.at(from.readUnsignedByte()),
        from.readBoolean() ? from.readUTF() : null);
  }
}
