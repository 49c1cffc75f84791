// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.Fixture;
import io.timewheel.durable.rocksdb.internal.store.Counts;
import io.timewheel.durable.spi.format.ByteReader;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Verifies that keys keep their order, and that bytes decode to their original or are refused. */
class EncodingTest {
  @Provide
  Arbitrary<String> texts() {
    // Limits of the ranges of UTF-8, the escaped code units, and unpaired surrogates.
    Arbitrary<Character> odd =
        Arbitraries.of('\0', '\1', '\2', 'a', '\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff')
            .injectDuplicates(0.2);
    Arbitrary<Character> high = Arbitraries.of('\ud800', '\udbff', '\udc00', '\udfff', '\uffff');
    Arbitrary<Character> any = Arbitraries.chars();
    return Arbitraries.oneOf(odd, high, any)
        .list()
        .ofMaxSize(6)
        .map(
            units -> {
              StringBuilder text = new StringBuilder();
              units.forEach(text::append);
              return text.toString();
            });
  }

  @Provide
  Arbitrary<TimerKey> keys() {
    return texts().flatMap(namespace -> texts().map(id -> new TimerKey(namespace, id)));
  }

  @Provide
  Arbitrary<DuePosition> positions() {
    Arbitrary<Long> times =
        Arbitraries.oneOf(
            Arbitraries.longs(), Arbitraries.of(Long.MIN_VALUE, -1L, 0L, 1L, Long.MAX_VALUE));
    return times.flatMap(time -> keys().map(key -> new DuePosition(time, key)));
  }

  private static int sign(int comparison) {
    return Integer.signum(comparison);
  }

  @Property(tries = 300)
  void keepsTheOrderOfTimers(@ForAll("keys") TimerKey a, @ForAll("keys") TimerKey b) {
    assertThat(sign(Arrays.compareUnsigned(Keys.timer(a), Keys.timer(b))))
        .isEqualTo(sign(a.compareTo(b)));
    assertThat(Keys.timer(Keys.timer(a))).isEqualTo(a);
  }

  @Property(tries = 300)
  void keepsTheOrderOfTheDueAndFinishedIndexes(
      @ForAll("positions") DuePosition a, @ForAll("positions") DuePosition b) {
    byte[] dueA = Keys.due(0, a.fireAt(), Keys.timer(a.key()));
    byte[] dueB = Keys.due(0, b.fireAt(), Keys.timer(b.key()));
    assertThat(sign(Arrays.compareUnsigned(dueA, dueB))).isEqualTo(sign(a.compareTo(b)));
    assertThat(Keys.due(dueA)).isEqualTo(a);
    byte[] finishedA = Keys.finished(a.fireAt(), Keys.timer(a.key()));
    byte[] finishedB = Keys.finished(b.fireAt(), Keys.timer(b.key()));
    assertThat(sign(Arrays.compareUnsigned(finishedA, finishedB))).isEqualTo(sign(a.compareTo(b)));
    assertThat(Keys.finished(finishedA)).isEqualTo(a);
  }

  @Property(tries = 300)
  void keepsQueuesApartAndTheirOrder(
      @ForAll("positions") DuePosition a,
      @ForAll("positions") DuePosition b,
      @ForAll("texts") String queueA,
      @ForAll("texts") String queueB) {
    byte[] readyA = Keys.ready(a.key(), queueA, a.fireAt());
    byte[] readyB = Keys.ready(b.key(), queueB, b.fireAt());
    assertThat(Keys.ready(readyA)).isEqualTo(a);
    TimerKey ofA = new TimerKey(a.key().namespace(), queueA);
    TimerKey ofB = new TimerKey(b.key().namespace(), queueB);
    int expected = ofA.equals(ofB) ? a.compareTo(b) : ofA.compareTo(ofB);
    assertThat(sign(Arrays.compareUnsigned(readyA, readyB))).isEqualTo(sign(expected));
    byte[] queue = Keys.queue(ofA.namespace(), queueA);
    assertThat(isWithin(readyA, queue)).isTrue();
    assertThat(isWithin(readyB, queue)).isEqualTo(ofA.equals(ofB));
  }

  private static boolean isWithin(byte[] key, byte[] prefix) {
    return Arrays.compareUnsigned(key, prefix) >= 0
        && Arrays.compareUnsigned(key, Keys.behindAll(prefix)) < 0;
  }

  @Property(tries = 300)
  void findsIdsByTheirBeginning(
      @ForAll("keys") TimerKey key, @ForAll("texts") String prefix, @ForAll boolean longer) {
    TimerKey other = longer ? new TimerKey(key.namespace(), prefix + key.id()) : key;
    byte[] from = Keys.timer(new TimerKey(key.namespace(), prefix));
    assertThat(isWithin(Keys.timer(other), from)).isEqualTo(other.id().startsWith(prefix));
  }

  @Property(tries = 300)
  void decodesNumbers(@ForAll long a, @ForAll long b, @ForAll("texts") String text) {
    byte[] bytes =
        new ByteWriter().signed(a).unsigned(b).fixed64(a).ordered64(b).sized(text).toBytes();
    ByteReader reader = new ByteReader(bytes);
    assertThat(reader.signed()).isEqualTo(a);
    assertThat(reader.unsigned()).isEqualTo(b);
    assertThat(reader.fixed64()).isEqualTo(a);
    assertThat(reader.ordered64()).isEqualTo(b);
    assertThat(reader.sizedText()).isEqualTo(text);
    reader.end();
  }

  @Example
  void encodesCharactersBelowU10000AsUtf8() {
    byte[] bytes = new ByteWriter().text("a ä ☃").toBytes();
    assertThat(bytes).isEqualTo("a ä ☃".getBytes(java.nio.charset.StandardCharsets.UTF_8));
  }

  // Records

  @Provide
  Arbitrary<TimerRecord> records() {
    return Arbitraries.longs().map(seed -> new Records(new Random(seed)).record());
  }

  /** Records with all their optional elements, and with extreme times. */
  private static final class Records {
    private final Random random;

    Records(Random random) {
      this.random = random;
    }

    private <T> T maybe(T value) {
      return random.nextBoolean() ? value : null;
    }

    private String text() {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(12); i > 0; i--) {
        text.append((char) (random.nextBoolean() ? random.nextInt(128) : random.nextInt(65_536)));
      }
      return text.toString();
    }

    private long time() {
      return switch (random.nextInt(6)) {
        case 0 -> Long.MIN_VALUE;
        case 1 -> Long.MAX_VALUE;
        case 2 -> random.nextLong();
        default -> Fixture.NOW + random.nextInt(100_000);
      };
    }

    private <E> E one(E[] constants) {
      return constants[random.nextInt(constants.length)];
    }

    private Claim claim() {
      return new Claim(
          new ClaimToken(random.nextLong(), random.nextLong()),
          random.nextLong(Long.MAX_VALUE),
          time(),
          random.nextInt(10),
          random.nextLong(Long.MAX_VALUE),
          time(),
          time(),
          maybe(one(Attempt.End.values())));
    }

    private Attempt attempt() {
      Attempt.End end = one(Attempt.End.values());
      return new Attempt(random.nextInt(1_000), time(), time(), time(), end, maybe(text()));
    }

    private TimerDefinition definition() {
      byte[] payload = new byte[random.nextInt(4) == 0 ? 1_025 + random.nextInt(2_000) : 9];
      random.nextBytes(payload);
      return new TimerDefinition(
          random.nextBoolean() ? "" : text(),
          text(),
          random.nextBoolean(),
          payload,
          Map.of("a" + text(), text(), "b" + text(), text()),
          new RetryPolicy(
              1 + random.nextInt(1_000),
              Duration.ofMillis(10).plusNanos(random.nextInt(99)),
              Duration.ofDays(1)),
          one(MissedRuns.values()),
          random.nextLong());
    }

    TimerRecord record() {
      return new TimerRecord(
          new TimerKey(text(), text()),
          random.nextLong(Long.MAX_VALUE),
          random.nextLong(Long.MAX_VALUE),
          one(TimerState.values()),
          definition(),
          time(),
          time(),
          time(),
          random.nextInt(1_000),
          random.nextBoolean() ? 0 : random.nextLong(Long.MAX_VALUE),
          maybe(claim()),
          maybe(claim()),
          random.nextBoolean(),
          random.nextBoolean(),
          time(),
          time(),
          maybe(text()),
          maybe(text()),
          random.ints(random.nextInt(4)).mapToObj(i -> attempt()).toList());
    }
  }

  private static byte[] encode(TimerRecord record) {
    return RecordCodec.encode(record, RecordCodec.isPayloadApart(record), new ByteWriter());
  }

  private static Stored decode(TimerRecord record, byte[] bytes) {
    return RecordCodec.decode(record.key(), bytes, () -> record.definition().payload());
  }

  @Property(tries = 300)
  void decodesARecord(@ForAll("records") TimerRecord record) {
    Stored stored = decode(record, encode(record));
    assertThat(stored.record()).isEqualTo(record);
    assertThat(stored.payloadApart()).isEqualTo(record.definition().payload().length > 1_024);
    byte[] due = Entries.encodeDue(record, new ByteWriter());
    assertThat(Entries.decodeDue(record.key(), record.fireAt(), due)).isEqualTo(record.due());
  }

  /** A revision that was written after it had overflowed 32 bits. */
  @Property(tries = 100)
  void decodesAnOverflowedRevision(@ForAll("records") TimerRecord record) {
    TimerRecord gone = Fixture.with(record, Integer.MIN_VALUE, record.fireAt());
    assertThat(decode(gone, encode(gone)).record()).isEqualTo(gone);
    byte[] due = Entries.encodeDue(gone, new ByteWriter());
    assertThat(Entries.decodeDue(gone.key(), gone.fireAt(), due)).isEqualTo(gone.due());
  }

  /** Decodes bytes to a record, or throws this one exception. */
  private static void readsOrRefuses(TimerRecord record, byte[] bytes) {
    try {
      assertThat(decode(record, bytes).record().key()).isEqualTo(record.key());
    } catch (MalformedException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
    try {
      Entries.decodeDue(record.key(), 0, bytes);
      Keys.timer(bytes);
      Keys.due(bytes);
      Keys.ready(bytes);
      Counts.decode(bytes);
    } catch (MalformedException e) {
      assertThat(e).hasMessageNotContaining("null");
    }
  }

  @Property(tries = 100)
  void decodesOrRefusesDamagedRecords(@ForAll("records") TimerRecord record, @ForAll long seed) {
    byte[] good = encode(record);
    Random random = new Random(seed);
    for (int i = 0; i < good.length; i++) {
      byte[] flipped = good.clone();
      flipped[i] ^= (byte) (1 << random.nextInt(8));
      readsOrRefuses(record, flipped);
      byte[] cut = Arrays.copyOf(good, i);
      assertThatThrownBy(() -> decode(record, cut)).isInstanceOf(MalformedException.class);
    }
    assertThatThrownBy(() -> decode(record, Arrays.copyOf(good, good.length + 1)))
        .hasMessage("1 bytes too many");
  }

  @Property(tries = 300)
  void decodesOrRefusesRandomBytes(@ForAll byte[] bytes, @ForAll("records") TimerRecord record) {
    readsOrRefuses(record, bytes);
  }
}
