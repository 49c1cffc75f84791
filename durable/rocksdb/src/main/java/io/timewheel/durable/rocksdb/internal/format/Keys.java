// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.format.ByteReader;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.Text;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Creates and reads the keys of all families. The bytes of keys sort like their elements, and every
 * key is unique.
 *
 * <ul>
 *   <li>timers, payloads: namespace (terminated), id
 *   <li>due: shard (2), fire time (8, ordered), namespace (terminated), id
 *   <li>ready: namespace (terminated), queue (terminated), ready since (8, ordered), id
 *   <li>finished: finish time (8, ordered), namespace (terminated), id
 *   <li>answers: 'R', namespace (terminated), id (terminated), request id. For the order by time:
 *       'T', time (8, ordered), and the same elements without their 'R'
 * </ul>
 */
public final class Keys {
  private static final int SHARD_BYTES = 2;
  private static final byte ANSWER = 'R';
  private static final byte ANSWERED_AT = 'T';

  private Keys() {}

  public static byte[] timer(TimerKey key) {
    byte[] bytes = new byte[3 * (key.namespace().length() + key.id().length()) + 1];
    int at = Text.writeTerminated(key.namespace(), bytes, 0);
    at = Text.write(key.id(), bytes, at);
    return at == bytes.length ? bytes : Arrays.copyOf(bytes, at);
  }

  public static TimerKey timer(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    return new TimerKey(reader.terminated(), reader.text());
  }

  public static byte[] namespace(String namespace) {
    return new ByteWriter().terminated(namespace).toBytes();
  }

  public static byte[] due(int shard, long fireAt, byte[] timer) {
    byte[] bytes = new byte[SHARD_BYTES + 8 + timer.length];
    bytes[0] = (byte) (shard >>> 8);
    bytes[1] = (byte) shard;
    putTime(bytes, SHARD_BYTES, fireAt);
    System.arraycopy(timer, 0, bytes, SHARD_BYTES + 8, timer.length);
    return bytes;
  }

  /** {@return the first position of a shard in the due index at or after a time} */
  public static byte[] due(int shard, long fireAt) {
    return due(shard, fireAt, new byte[0]);
  }

  public static DuePosition due(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    reader.u16();
    return new DuePosition(reader.ordered64(), new TimerKey(reader.terminated(), reader.text()));
  }

  /** {@return the fire time of an entry of the due index} */
  public static long dueTime(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    reader.u16();
    return reader.ordered64();
  }

  /**
   * {@return whether an entry of the due index belongs to a namespace, given as the start of a key}
   */
  public static boolean isDueIn(byte[] namespace, byte[] bytes) {
    int from = SHARD_BYTES + 8;
    int to = from + namespace.length;
    return bytes.length >= to && Arrays.equals(bytes, from, to, namespace, 0, namespace.length);
  }

  public static byte[] finished(long finishedAt, byte[] timer) {
    byte[] bytes = new byte[8 + timer.length];
    putTime(bytes, 0, finishedAt);
    System.arraycopy(timer, 0, bytes, 8, timer.length);
    return bytes;
  }

  public static DuePosition finished(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    return new DuePosition(reader.ordered64(), new TimerKey(reader.terminated(), reader.text()));
  }

  /** {@return a position after all entries; no text begins with its byte} */
  public static byte[] behindAllFinished() {
    byte[] end = new byte[8 + 1];
    Arrays.fill(end, (byte) -1);
    return end;
  }

  public static byte[] queue(String namespace, String queue) {
    return new ByteWriter().terminated(namespace).terminated(queue).toBytes();
  }

  public static byte[] ready(TimerKey key, String queue, long since) {
    return new ByteWriter()
        .terminated(key.namespace())
        .terminated(queue)
        .ordered64(since)
        .text(key.id())
        .toBytes();
  }

  /** {@return the time since which a timer is ready, and the timer} */
  public static DuePosition ready(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    String namespace = reader.terminated();
    reader.terminated();
    long since = reader.ordered64();
    return new DuePosition(since, new TimerKey(namespace, reader.text()));
  }

  public static byte[] answer(TimerKey key, String request) {
    return new ByteWriter()
        .u8(ANSWER)
        .terminated(key.namespace())
        .terminated(key.id())
        .text(request)
        .toBytes();
  }

  /** {@return the key that orders an answer by its time} */
  public static byte[] answeredAt(long time, byte[] answer) {
    byte[] bytes = new byte[8 + answer.length];
    bytes[0] = ANSWERED_AT;
    putTime(bytes, 1, time);
    System.arraycopy(answer, 1, bytes, 1 + 8, answer.length - 1);
    return bytes;
  }

  /** {@return the first position in the order of answers at or after a time} */
  public static byte[] answeredAt(long time) {
    return answeredAt(time, new byte[] {ANSWER});
  }

  /** {@return the time in a key that orders an answer} */
  public static long answeredAt(byte[] bytes) {
    ByteReader reader = new ByteReader(bytes);
    reader.u8();
    return reader.ordered64();
  }

  /** {@return the key of the answer that a key in the order of time refers to} */
  public static byte[] answer(byte[] answeredAt) {
    byte[] bytes = Arrays.copyOfRange(answeredAt, 8, answeredAt.length);
    bytes[0] = ANSWER;
    return bytes;
  }

  /** {@return whether a key of the family is the key of an answer, not one of the order of time} */
  public static boolean isAnswer(byte[] key) {
    return key.length > 0 && key[0] == ANSWER;
  }

  /** Reads an answer; its names come from its key. */
  public static RequestAnswer answer(byte[] key, byte[] value) {
    ByteReader reader = new ByteReader(key);
    reader.u8();
    TimerKey timer = new TimerKey(reader.terminated(), reader.terminated());
    return Entries.decodeAnswer(timer, reader.text(), value);
  }

  private static void putTime(byte[] bytes, int at, long time) {
    long ordered = time ^ Long.MIN_VALUE;
    for (int i = 0; i < 8; i++) {
      bytes[at + i] = (byte) (ordered >>> (56 - 8 * i));
    }
  }

  /** {@return the first key after this one} */
  public static byte[] behind(byte[] key) {
    return Arrays.copyOf(key, key.length + 1);
  }

  /** {@return the first key after all keys with a prefix, which a text always has} */
  public static byte[] behindAllOf(byte[] prefix) {
    byte[] end = behindAll(prefix);
    if (end == null) {
      throw new AssertionError(Arrays.toString(prefix));
    }
    return end;
  }

  /** {@return the first key after all keys with a prefix; null if there is none} */
  public static byte @Nullable [] behindAll(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != -1) {
        byte[] end = Arrays.copyOf(prefix, i + 1);
        end[i]++;
        return end;
      }
    }
    return null;
  }
}
