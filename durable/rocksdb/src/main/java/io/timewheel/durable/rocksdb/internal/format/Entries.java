// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

import io.timewheel.durable.model.RequestId;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.format.ByteReader;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;

/** Encodes the values of index entries and answers. The first byte is the version. */
public final class Entries {
  private static final int QUEUE = 1;
  private static final int RECURRING = 1 << 1;
  private static final int DEFERRED = 1 << 2;

  private Entries() {}

  /** {@return the value of a key that has no data: only the version of the encoding} */
  public static byte[] present() {
    return new byte[] {RecordCodec.FORMAT};
  }

  public static byte[] encodeDue(TimerRecord record, ByteWriter to) {
    int flags =
        (record.definition().queue() ? QUEUE : 0)
            | (record.definition().isRecurring() ? RECURRING : 0)
            | (record.isDeferred() ? DEFERRED : 0);
    return to.reset()
        .u8(RecordCodec.FORMAT)
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
    RecordCodec.format(from);
    return from.constant(Codes.STATES);
  }

  public static DueTimer decodeDue(TimerKey key, long fireAt, byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    RecordCodec.format(from);
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
        .u8(RecordCodec.FORMAT)
        .u8(Codes.ANSWERS.of(answer.answer()))
        .fixed64(answer.version())
        .fixed64(answer.answeredAt())
        .text(answer.request().digest())
        .toBytes();
  }

  public static RequestAnswer decodeAnswer(TimerKey key, String request, byte[] bytes) {
    ByteReader from = new ByteReader(bytes);
    RecordCodec.format(from);
    Outcome.Answer answer = from.constant(Codes.ANSWERS);
    long version = from.fixed64();
    long answeredAt = from.fixed64();
    return new RequestAnswer(key, new RequestId(request, from.text()), answer, version, answeredAt);
  }
}
