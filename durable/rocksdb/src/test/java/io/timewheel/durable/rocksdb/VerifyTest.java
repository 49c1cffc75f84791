// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.Opening;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.rocksdb.internal.store.Counts;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.Codes;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDBException;

/** Verifies that each kind of damage is found, and reported with the key of its timer. */
class VerifyTest {
  @TempDir Path directory;

  private byte[] entry;
  private byte[] value;

  @BeforeEach
  void fill() {
    try (RocksTimerStore store = Fixture.open(directory)) {
      new Fixture(store).fill();
      assertThat(store.verify().texts()).isEmpty();
      assertThat(store.verify().timers()).isEqualTo(13);
    }
  }

  /** Damages the data directly in the database, bypassing the store. */
  private interface Damage {
    void addTo(Batch batch) throws RocksDBException;
  }

  private void damage(Damage damage) throws RocksDBException {
    Failures failures = new Failures(directory);
    try (Database database = new Opening(directory, Settings.DEFAULT, failures).open();
        Batch batch = new Batch(database)) {
      damage.addTo(batch);
      batch.write(true);
    }
  }

  /** Finds the first entry of a family whose key ends with an id. */
  private void find(Family family, String id) throws RocksDBException {
    byte[] end = id.getBytes(StandardCharsets.UTF_8);
    Failures failures = new Failures(directory);
    entry = null;
    try (Database database = new Opening(directory, Settings.DEFAULT, failures).open()) {
      database.scan(
          family,
          null,
          null,
          null,
          at -> {
            String key = new String(at.key(), StandardCharsets.ISO_8859_1);
            if (key.endsWith(new String(end, StandardCharsets.ISO_8859_1))) {
              entry = at.key();
              value = at.value();
            }
            return entry == null;
          });
    }
    assertThat(entry).isNotNull();
  }

  /** Verifies, and also repairs the problems. */
  private VerifyReport verify() {
    return verify(0);
  }

  private VerifyReport verify(int left) {
    try (RocksTimerStore store = Fixture.open(directory)) {
      VerifyReport report = store.verify();
      assertThat(report.isClean()).isFalse();
      assertThat(report.problems()).isEqualTo(report.texts().size());
      List<String> fixed = store.repair().texts();
      List<String> remaining = store.verify().texts();
      assertThat(remaining).hasSize(left);
      assertThat(Stream.concat(fixed.stream(), remaining.stream()))
          .containsExactlyInAnyOrderElementsOf(report.texts());
      return report;
    }
  }

  private void deletes(Family family, String id) throws RocksDBException {
    find(family, id);
    damage(batch -> batch.delete(family, entry));
    assertThat(verify(family == Family.PAYLOADS ? 1 : 0).texts())
        .containsExactly("shop/" + id + ": no entry in the family " + family);
  }

  @Test
  void findsAMissingEntryOfEachIndex() throws RocksDBException {
    deletes(Family.DUE, "scheduled");
  }

  @Test
  void findsAMissingReadyEntry() throws RocksDBException {
    deletes(Family.READY, "ready");
  }

  @Test
  void findsAMissingEntryOfAFinishedTimer() throws RocksDBException {
    deletes(Family.FINISHED, "done");
  }

  @Test
  void findsAMissingPayload() throws RocksDBException {
    deletes(Family.PAYLOADS, "failed");
  }

  private static byte[] place(byte[] answer, byte[] value) {
    return Keys.answeredAt(Keys.answer(answer, value).answeredAt(), answer);
  }

  /** Without its position in the order of time, an answer would be kept forever. */
  @Test
  void findsAnAnswerThatIsNotInTheOrderOfTime() throws RocksDBException {
    find(Family.ANSWERS, "request-1");
    assertThat(Keys.isAnswer(entry)).isTrue();
    damage(batch -> batch.delete(Family.ANSWERS, place(entry, value)));
    assertThat(verify().texts())
        .singleElement(STRING)
        .endsWith(": the answer of request request-1 is not in the order of time");
    try (RocksTimerStore store = Fixture.open(directory)) {
      assertThat(store.purgeAnswers(Long.MAX_VALUE, 10)).isOne();
    }
  }

  @Test
  void findsAPositionInTheOrderOfTimeWithoutAnAnswer() throws RocksDBException {
    find(Family.ANSWERS, "request-1");
    damage(batch -> batch.delete(Family.ANSWERS, entry));
    assertThat(verify().texts())
        .singleElement(STRING)
        .endsWith(": an index entry without an answer");
  }

  @Test
  void findsAnAnswerAtAnotherTime() throws RocksDBException {
    find(Family.ANSWERS, "request-1");
    damage(batch -> batch.put(Family.ANSWERS, Keys.answeredAt(7, entry), Entries.present()));
    assertThat(verify().texts())
        .singleElement(STRING)
        .endsWith(": an index entry without an answer");
  }

  /** A repeated request would fail. After the repair, it is processed again. */
  @Test
  void findsAnUnreadableAnswer() throws RocksDBException {
    find(Family.ANSWERS, "request-1");
    damage(batch -> batch.put(Family.ANSWERS, entry, new byte[] {99}));
    assertThat(verify().texts()).hasSize(2).allMatch(text -> text.contains("cannot be read: "));
  }

  @Test
  void findsAMalformedKeyOfAnAnswer() throws RocksDBException {
    damage(batch -> batch.put(Family.ANSWERS, new byte[] {'X'}, new byte[0]));
    assertThat(verify().texts())
        .singleElement(STRING)
        .startsWith("a key of the family ANSWERS, 58: ");
  }

  @Test
  void findsEntriesWithoutARecord() throws RocksDBException {
    byte[] ghost = Keys.timer(new TimerKey("shop", "ghost"));
    byte[] done = Keys.timer(new TimerKey("shop", "done"));
    damage(
        batch -> {
          batch.put(Family.DUE, Keys.due(0, 5, ghost), new byte[] {1, 0, 0, 1, 0});
          batch.put(Family.DUE, Keys.due(0, 6, done), new byte[] {1, 0, 0, 1, 0});
          batch.put(Family.FINISHED, Keys.finished(7, done), Entries.present());
          batch.put(Family.PAYLOADS, done, new byte[9]);
          batch.put(
              Family.READY,
              Keys.ready(new TimerKey("shop", "done"), "orders", 8),
              Entries.present());
        });
    assertThat(verify().texts())
        .containsExactlyInAnyOrder(
            "shop/ghost: an entry in the family DUE, but no record",
            "shop/done: an entry in the family DUE at 6 that its record does not have",
            "shop/done: an entry in the family FINISHED at 7 that its record does not have",
            "shop/done: an entry in the family PAYLOADS that its record does not have",
            "shop/done: an entry in the family READY at 8 that its record does not have");
  }

  @Test
  void findsAMissingRecord() throws RocksDBException {
    find(Family.TIMERS, "scheduled");
    damage(batch -> batch.delete(Family.TIMERS, entry));
    assertThat(verify().texts())
        .containsExactly(
            "shop/scheduled: an entry in the family DUE, but no record",
            "the counter of shop in state SCHEDULED: 2 (expected: 1)");
  }

  @Test
  void findsAnUnreadableRecord() throws RocksDBException {
    find(Family.TIMERS, "scheduled");
    damage(batch -> batch.put(Family.TIMERS, entry, new byte[] {9, 9}));
    assertThat(verify(2).texts()) // the counter includes the unreadable record
        .containsExactly(
            "shop/scheduled: the record cannot be read: it has format 9 (expected: 3)",
            "the counter of shop in state SCHEDULED: 2 (expected: 1)");
  }

  @Test
  void repairsNoCounterWhileARecordHasAnUnreadableKey() throws RocksDBException {
    find(Family.TIMERS, "scheduled");
    damage(
        batch -> {
          batch.delete(Family.TIMERS, entry);
          batch.put(Family.TIMERS, new byte[] {'x'}, value);
        });
    assertThat(verify(2).texts())
        .hasSize(3)
        .anyMatch(text -> text.startsWith("a key of the family TIMERS, 78: not a key"))
        .contains(
            "shop/scheduled: an entry in the family DUE, but no record",
            "the counter of shop in state SCHEDULED: 2 (expected: 1)");
  }

  @Test
  void findsAWaitingTimerWithoutATime() throws RocksDBException {
    find(Family.TIMERS, "scheduled");
    TimerRecord record =
        RecordCodec.decode(Keys.timer(entry), value, RecordCodec.LEFT_OUT).record();
    TimerRecord stuck = Fixture.with(record, record.revision(), TimerRecord.NEVER);
    byte[] timer = entry;
    damage(
        batch -> {
          batch.put(Family.TIMERS, timer, RecordCodec.encode(stuck, false, new ByteWriter()));
          batch.delete(Family.DUE, Rows.due(timer, record));
        });
    assertThat(verify(1).texts())
        .containsExactly("shop/scheduled: in state SCHEDULED without a time to fire at");
  }

  @Test
  void findsAnEntryThatDiffersFromTheRecord() throws RocksDBException {
    find(Family.DUE, "scheduled");
    value[1] = (byte) Codes.STATES.of(io.timewheel.durable.model.TimerState.RUNNING);
    damage(batch -> batch.put(Family.DUE, entry, value));
    assertThat(verify().texts())
        .containsExactly("shop/scheduled: its entry in the family DUE differs from the record");
  }

  @Test
  void findsWrongCounters() throws RocksDBException {
    Map<TimerState, Long> states = Map.of(TimerState.SCHEDULED, 3L);
    damage(
        batch -> {
          batch.delete(Family.META, Meta.counts("closed"));
          batch.put(Family.META, Meta.counts("nobody"), Counts.encode(states));
          batch.put(Family.META, Meta.lastVersion(), Meta.number(12));
        });
    assertThat(verify().texts())
        .containsExactlyInAnyOrder(
            "shop/recurring: version 13, but the last one was 12",
            "the counter of closed in state SCHEDULED: 0 (expected: 1)",
            "the counter of nobody in state SCHEDULED: 3 (expected: 0)");
  }

  @Test
  void findsADueIndexThatBeginsTooLate() throws RocksDBException {
    byte[] from = Keys.due(0, Fixture.NOW + 6);
    damage(batch -> batch.put(Family.META, Meta.dueFrom(), from));
    assertThat(verify().texts())
        .contains(
            "shop/scheduled: due at "
                + (Fixture.NOW + 5)
                + ", before the beginning of the due index");
  }

  /** Damages the first block of the table of a family. */
  private Path damageTable(Family family) throws RocksDBException, IOException {
    Path table = null;
    Failures failures = new Failures(directory);
    try (Database database = new Opening(directory, Settings.DEFAULT, failures).open()) {
      for (LiveFileMetaData file : database.db().getLiveFilesMetaData()) {
        if (Arrays.equals(file.columnFamilyName(), family.bytes())) {
          table = directory.resolve(file.fileName().substring(1));
        }
      }
    }
    assertThat(table).isNotNull();
    byte[] bytes = Files.readAllBytes(table);
    bytes[10] ^= 4;
    Files.write(table, bytes);
    return table;
  }

  @ParameterizedTest
  @EnumSource(names = {"DUE", "READY", "FINISHED"})
  void rebuildsAnUnreadableIndex(Family family) throws RocksDBException, IOException {
    Path table = damageTable(family);
    try (RocksTimerStore store = Fixture.open(directory)) {
      assertThat(store.verify().texts())
          .anySatisfy(
              text ->
                  assertThat(text)
                      .startsWith("the family " + family + ": cannot be read further: ")
                      .contains(table.getFileName().toString()));
      assertThat(store.repair().isClean()).isFalse();
      assertThat(store.verify().texts()).isEmpty();
    }
    try (RocksTimerStore store = Fixture.open(directory)) {
      assertThat(store.verify().texts()).isEmpty();
      new Fixture(store).commit(Fixture.schedule("new", Fixture.NOW));
    }
  }

  @Test
  void opensAfterARepairThatWasKilledWhileItReplacedAnIndex() throws RocksDBException {
    Failures failures = new Failures(directory);
    try (Database database = new Opening(directory, Settings.DEFAULT, failures).open()) {
      database.db().dropColumnFamily(database.handle(Family.DUE));
    }
    try (RocksTimerStore store = Fixture.open(directory)) {
      assertThat(store.repair().isClean()).isFalse();
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  /** An entry of the index may lead to a record that a scan cannot reach. */
  @Test
  void keepsADamagedIndexWhileRecordsAreDamaged() throws RocksDBException, IOException {
    damageTable(Family.DUE);
    damageTable(Family.TIMERS);
    try (RocksTimerStore store = Fixture.open(directory)) {
      var unused = catchThrowable(store::repair); // a compaction of the damage may stop writes
      assertThat(store.verify().texts())
          .anyMatch(text -> text.startsWith("the family DUE: cannot be read further: "));
    }
  }

  @Test
  void reportsTheFileThatKeepsTheStoreFromOpening() throws RocksDBException, IOException {
    Path table = damageTable(Family.META);
    assertThatThrownBy(() -> Fixture.open(directory))
        .hasMessageContaining("cannot be opened: ")
        .hasMessageContaining(table.getFileName().toString())
        .hasMessageNotContaining("MANIFEST");
  }

  @Test
  void reportsMalformedKeys() throws RocksDBException {
    damage(
        batch -> {
          batch.put(Family.TIMERS, new byte[] {'x'}, new byte[0]);
          batch.put(Family.DUE, new byte[] {0, 0, 1}, new byte[0]);
        });
    assertThat(verify(1).texts())
        .hasSize(2)
        .anyMatch(text -> text.startsWith("a key of the family TIMERS, 78: not a key"))
        .anyMatch(text -> text.startsWith("a key of the family DUE, 000001: not a key"));
  }

  @Test
  void repairsNothingWhileASchedulerRuns() {
    try (RocksTimerStore store = Fixture.open(directory);
        DurableTimer running = DurableTimer.builder(store).start()) {
      assertThatIllegalStateException()
          .isThrownBy(store::repair)
          .withMessageContaining("a scheduler runs on the store");
      assertThat(running.stats().shards()).isOne();
    }
  }

  @Test
  void aRepairedStoreContinuesWithCorrectCounters() throws RocksDBException {
    Map<TimerState, Long> states = Map.of(TimerState.SCHEDULED, 3L);
    damage(batch -> batch.put(Family.META, Meta.counts("nobody"), Counts.encode(states)));
    try (RocksTimerStore store = Fixture.open(directory)) {
      assertThat(store.repair().problems()).isOne();
      assertThat(store.counts()).doesNotContainKey("nobody");
      new Fixture(store).fill();
      assertThat(store.verify().texts()).isEmpty();
    }
  }

  @Test
  void limitsTheNumberOfReportedProblems() throws RocksDBException {
    damage(
        batch -> {
          for (int i = 0; i < 500; i++) {
            byte[] ghost = Keys.timer(new TimerKey("shop", "ghost-" + i));
            batch.put(Family.FINISHED, Keys.finished(i, ghost), Entries.present());
          }
        });
    try (RocksTimerStore store = Fixture.open(directory)) {
      VerifyReport report = store.verify();
      assertThat(report.problems()).isEqualTo(500);
      assertThat(report.texts()).hasSize(VerifyReport.MAX_TEXTS);
      assertThat(store.repair().problems()).isEqualTo(500);
      assertThat(store.verify().isClean()).isTrue();
    }
  }
}
