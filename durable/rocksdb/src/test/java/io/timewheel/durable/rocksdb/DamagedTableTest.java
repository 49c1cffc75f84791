// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb;

import static io.timewheel.durable.rocksdb.Fixture.NOW;
import static io.timewheel.durable.rocksdb.Fixture.key;
import static io.timewheel.durable.rocksdb.Fixture.schedule;
import static io.timewheel.durable.spi.record.TimerRecord.NEVER;
import static io.timewheel.durable.spi.record.TimerRecord.NONE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.RetryPolicy;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Batch;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.file.Opening;
import io.timewheel.durable.rocksdb.internal.file.Settings;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerDefinition;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.logging.Filter;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.RocksDBException;

/**
 * Verifies that a damaged table loses only the entries in its damaged blocks. Only this class
 * exports, purges, lists and claims the timers around a damaged block.
 */
class DamagedTableTest {
  private static final int TIMERS = 2_000;

  /** A block has 8 KiB, and each timer about 400 bytes. */
  private static final int TIMERS_A_BLOCK = 40;

  private static final int SOUND_AT_LEAST = TIMERS - TIMERS_A_BLOCK;

  private static final TimerQuery ALL =
      new TimerQuery(
          "shop", "", EnumSet.allOf(TimerState.class), Long.MIN_VALUE, NEVER, null, true);

  @TempDir Path directory;

  private final Random random = new Random(7);

  private static String id(int number) {
    return "t%05d".formatted(number);
  }

  /** Creates a timer whose payload cannot be compressed. */
  private Change.Schedule timer(int number, int payloadBytes) {
    byte[] payload = new byte[payloadBytes];
    random.nextBytes(payload);
    TimerDefinition definition =
        new TimerDefinition(
            "", "orders", false, payload, Map.of(), RetryPolicy.DEFAULT, MissedRuns.SKIP, 0);
    return schedule(key(id(number)), NOW + number, definition);
  }

  private Path store() {
    return directory.resolve("store");
  }

  private void fill(int payloadBytes) {
    try (RocksTimerStore store = Fixture.open(store())) {
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < TIMERS; i++) {
        changes.add(timer(i, payloadBytes));
      }
      new Fixture(store).store.commit(changes);
    }
  }

  /** Returns the table files of a family, oldest first. */
  private List<Path> tables(Family family) throws RocksDBException {
    Failures failures = new Failures(store());
    try (Database database = new Opening(store(), Settings.DEFAULT, failures).open()) {
      return database.db().getLiveFilesMetaData().stream()
          .filter(file -> Arrays.equals(file.columnFamilyName(), family.bytes()))
          .map(LiveFileMetaData::fileName)
          .sorted(Comparator.naturalOrder())
          .map(name -> store().resolve(name.substring(1)))
          .toList();
    }
  }

  private static void damage(Path file, double... at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    for (double part : at) {
      bytes[(int) (part * (bytes.length - 1))] ^= 4;
    }
    Files.write(file, bytes);
  }

  /** The exception and the content of an export. */
  private record Rescued(IncompleteExportException exception, List<String> ids) {
    List<String> missing(int... except) {
      List<String> missing = new ArrayList<>();
      IntStream.range(0, TIMERS).mapToObj(DamagedTableTest::id).forEach(missing::add);
      missing.removeAll(ids);
      for (int number : except) {
        missing.remove(id(number));
      }
      return missing;
    }
  }

  private Rescued rescue() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    IncompleteExportException exception;
    try (RocksTimerStore store = Fixture.open(store())) {
      exception = catchThrowableOfType(IncompleteExportException.class, () -> store.exportTo(out));
    }
    assertThat(exception).as("an incomplete export").isNotNull();
    assertThat(out.toString(UTF_8).lines()).hasSize((int) exception.timers() + 2);
    try (RocksTimerStore other = Fixture.open(directory.resolve("other"))) {
      assertThat(other.importFrom(new ByteArrayInputStream(out.toByteArray())))
          .isEqualTo(exception.timers());
      assertThat(other.verify().texts()).isEmpty();
      return new Rescued(
          exception, Fixture.all(other).stream().map(record -> record.key().id()).toList());
    }
  }

  private static void assertConsecutive(List<String> ids) {
    int first = Integer.parseInt(ids.get(0).substring(1));
    assertThat(ids)
        .containsExactlyElementsOf(
            IntStream.range(first, first + ids.size()).mapToObj(DamagedTableTest::id).toList());
  }

  @Test
  void exportsAllTimersExceptThoseInADamagedBlock() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0.4);

    Rescued rescued = rescue();

    List<String> missing = rescued.missing();
    assertThat(missing).hasSizeBetween(1, TIMERS_A_BLOCK);
    assertConsecutive(missing);
    assertThat(rescued.exception.timers()).isEqualTo(TIMERS - missing.size());
    assertThat(rescued.exception.unread()).isEqualTo(missing.size());
    int first = Integer.parseInt(missing.get(0).substring(1));
    assertThat(rescued.exception.texts().get(0))
        .startsWith(
            "the timers after shop/%s before shop/%s: "
                .formatted(id(first - 1), id(first + missing.size())));
    assertThat(rescued.exception)
        .hasMessageStartingWith(
            store()
                + ": the export is incomplete: %d timers are in it, and %d could not be read; "
                    .formatted(rescued.exception.timers(), missing.size()));
  }

  @Test
  void exportsTimersBetweenDamagedBlocks() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0, 0.2, 0.25, 0.5, 0.9);

    Rescued rescued = rescue();

    assertThat(rescued.missing()).hasSizeBetween(5, 5 * TIMERS_A_BLOCK).contains(id(0));
    assertThat(rescued.exception.texts().get(0)).startsWith("the timers before shop/t000");
    // If two damaged blocks are close together, the search may find the end of the second.
    assertThat(rescued.exception.texts())
        .filteredOn(text -> text.startsWith("the timers"))
        .hasSizeBetween(4, 5);
  }

  @Test
  void exportsDespiteADamagedIndex() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0.4);
    damage(tables(Family.DUE).get(0), 0.3);

    assertThat(rescue().missing()).hasSizeBetween(1, TIMERS_A_BLOCK);
  }

  /**
   * A scan needs all tables to be readable at one position; a lookup needs only the newest table
   * with the timer.
   */
  @Test
  void exportsTimersNewerThanADamagedBlock() throws Exception {
    fill(300);
    try (RocksTimerStore store = Fixture.open(store())) {
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < TIMERS; i += 10) {
        changes.add(timer(i, 301));
      }
      new Fixture(store).store.commit(changes);
    }
    List<Path> tables = tables(Family.TIMERS);
    assertThat(tables).hasSize(2);
    damage(tables.get(0), 0.4);

    Rescued rescued = rescue();

    assertThat(rescued.missing())
        .hasSizeBetween(1, TIMERS_A_BLOCK)
        .allMatch(id -> !id.endsWith("0"));
  }

  /** Values older than the damage are outdated. */
  @Test
  void exportsNoTimerOlderThanADamagedBlock() throws Exception {
    fill(300);
    try (RocksTimerStore store = Fixture.open(store())) {
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < TIMERS; i += 2) {
        changes.add(timer(i, 301));
      }
      new Fixture(store).store.commit(changes);
    }
    damage(tables(Family.TIMERS).get(1), 0.4);

    Rescued rescued = rescue();

    assertThat(rescued.missing()).hasSizeBetween(1, TIMERS_A_BLOCK);
    try (RocksTimerStore other = Fixture.open(directory.resolve("other"))) {
      assertThat(Fixture.all(other))
          .allMatch(
              record ->
                  record.definition().payload().length
                      == 300 + (Integer.parseInt(record.key().id(), 1, 6, 10) + 1) % 2);
    }
  }

  @Test
  void exportsTimersWithAReadablePayload() throws Exception {
    fill(2_000);
    try (var files = Files.list(store())) {
      Path blobs =
          files.filter(file -> file.toString().endsWith(".blob")).findFirst().orElseThrow();
      damage(blobs, 0.4);
    }

    Rescued rescued = rescue();

    assertThat(rescued.missing()).hasSize(1);
    assertThat(rescued.exception.unread()).isEqualTo(1);
    assertThat(rescued.exception.texts())
        .singleElement()
        .asString()
        .startsWith("shop/" + rescued.missing().get(0) + ": its payload cannot be read: ");
  }

  @Test
  void leavesOutAMalformedRecord() throws Exception {
    fill(3);
    try (RocksTimerStore store = Fixture.open(store())) {
      store.inspect(
          (database, bounds) -> {
            try {
              database
                  .db()
                  .put(database.handle(Family.TIMERS), Keys.timer(key(id(5))), new byte[] {9, 9});
              return true;
            } catch (RocksDBException e) {
              throw new AssertionError(e);
            }
          });
    }
    Rescued rescued = rescue();
    assertThat(rescued.missing()).containsExactly(id(5));
    assertThat(rescued.exception.texts())
        .containsExactly("shop/t00005: it has format 9 (expected: 3)");
  }

  /** Finds a timer in the damaged block. */
  private static TimerKey damagedIn(RocksTimerStore store) {
    for (int i = 0; i < TIMERS; i++) {
      try {
        assertThat(store.get(key(id(i)))).isNotNull();
      } catch (StoreException e) {
        assertThat(e.kind()).isEqualTo(StoreException.Kind.REJECTED);
        return key(id(i));
      }
    }
    throw new AssertionError("none");
  }

  @Test
  void countsDamagedReadsAndReportsTheFirst() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0.4);
    List<String> errors = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger(RocksTimerStore.class.getName());
    Filter filter =
        line -> {
          if (line.getLevel().equals(Level.SEVERE)) {
            errors.add(line.getMessage());
          }
          return true;
        };
    logger.setFilter(filter);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(store.figures().damagedReads()).isZero();
      TimerKey damaged = damagedIn(store);
      assertThat(store.figures().damagedReads()).isEqualTo(1);
      assertThat(errors)
          .singleElement()
          .asString()
          .startsWith(store() + ": the store is damaged: cannot read " + damaged + ": ");

      Change good = new Change.Cancel(key(id(1)), 0, NOW);
      Change bad = new Change.Cancel(damaged, 0, NOW);
      assertThatThrownBy(() -> store.commit(List.of(good, bad)))
          .hasMessageContaining("cannot read " + damaged + ": ")
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REJECTED));
      assertThat(store.figures().damagedReads()).isEqualTo(2);
      assertThat(errors).hasSize(1);
    } finally {
      logger.setFilter(null);
    }
  }

  /** Applies a change to every timer. */
  private void change(Function<TimerRecord, Change> change) {
    try (RocksTimerStore store = Fixture.open(store())) {
      new Fixture(store);
      store.commit(Fixture.all(store).stream().map(change).toList());
    }
  }

  @Test
  void purgesAllTimersExceptThoseInADamagedBlock() throws Exception {
    fill(300);
    change(timer -> new Change.Cancel(timer.key(), 0, NOW));
    damage(tables(Family.TIMERS).get(1), 0.4);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(store.purge(Long.MAX_VALUE, 0, 10_000)).isBetween(SOUND_AT_LEAST, TIMERS - 1);
      assertThat(store.purge(Long.MAX_VALUE, 0, 10_000)).isZero();
    }
  }

  @Test
  void purgesTheTimersBehindADamagedBlockOfTheirIndex() throws Exception {
    fill(300);
    change(timer -> new Change.Cancel(timer.key(), 0, NOW + timer.dueAt() % TIMERS));
    damage(tables(Family.FINISHED).get(0), 0);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(store.purge(Long.MAX_VALUE, 0, 10_000)).isBetween(1, TIMERS - 1);
    }
  }

  @Test
  void releasesAllTimersExceptThoseInADamagedBlock() throws Exception {
    fill(300);
    change(
        timer ->
            new Change.Park(
                timer.key(), timer.version(), timer.revision(), 2, "unknown handler", NOW));
    damage(tables(Family.TIMERS).get(0), 0.4);
    try (RocksTimerStore store = Fixture.open(store())) {
      HandlerNames handlers = new HandlerNames(Set.of("orders"), Set.of());
      List<DueTimer> found = new ArrayList<>();
      List<DueTimer> page;
      do {
        DueTimer after = found.isEmpty() ? null : found.get(found.size() - 1);
        page = store.releasable(Rows.SHARD, handlers, Set.of(), after, 100);
        found.addAll(page);
      } while (!page.isEmpty());
      assertThat(found).hasSizeBetween(SOUND_AT_LEAST, TIMERS - 1);
    }
  }

  @Test
  void findsDueTimersBehindADamagedBlock() throws Exception {
    fill(300);
    damage(tables(Family.DUE).get(0), 0);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(store.due(Rows.SHARD, Long.MAX_VALUE, null, TIMERS))
          .hasSizeBetween(1, TIMERS - 1)
          .last()
          .extracting(DueTimer::key)
          .isEqualTo(key(id(TIMERS - 1)));
      assertThat(store.figures().damagedReads()).isOne();
    }
  }

  @Test
  void claimsTimersOfAQueueBehindADamagedBlock() throws Exception {
    try (RocksTimerStore store = Fixture.open(store())) {
      Fixture fixture = new Fixture(store);
      List<Change> changes = new ArrayList<>();
      for (int i = 0; i < TIMERS; i++) {
        changes.add(schedule(key(id(i)), NOW, Fixture.definition(true, 3)));
      }
      store.commit(changes);
      changes.clear();
      for (TimerRecord timer : fixture.all()) {
        changes.add(
            new Change.MakeReady(
                timer.key(), timer.version(), timer.revision(), fixture.epoch, NONE, NOW));
      }
      store.commit(changes);
    }
    damage(tables(Family.READY).get(0), 0);
    try (RocksTimerStore store = Fixture.open(store())) {
      List<LeaseRequest> requests =
          List.of(new LeaseRequest("shop", "orders", TIMERS, NOW + 1_000));
      assertThat(store.lease(requests, TIMERS, NOW, () -> new ClaimToken(7, 8)))
          .hasSizeBetween(1, TIMERS - 1);
    }
  }

  @Test
  void refusesToReadADamagedTimerAmongOthers() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0.4);
    try (RocksTimerStore store = Fixture.open(store())) {
      List<TimerKey> keys = List.of(key(id(0)), damagedIn(store));
      assertThatThrownBy(() -> store.read(keys))
          .isInstanceOfSatisfying(
              StoreException.class,
              e -> assertThat(e.kind()).isEqualTo(StoreException.Kind.REJECTED));
    }
  }

  @Test
  void listsAllTimersExceptThoseInADamagedBlock() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0.4);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(Fixture.all(store)).hasSizeBetween(SOUND_AT_LEAST, TIMERS - 1);
      assertThat(store.sorted(ALL, TimerOrder.DUE, null, TIMERS).records())
          .hasSizeBetween(SOUND_AT_LEAST, TIMERS - 1);
    }
  }

  @Test
  void listsTheTimersBehindADamageAtTheBeginning() throws Exception {
    fill(300);
    damage(tables(Family.TIMERS).get(0), 0);
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(store.sorted(ALL, TimerOrder.DUE, null, TIMERS).records())
          .hasSizeBetween(SOUND_AT_LEAST, TIMERS - 1);
    }
  }

  @Test
  void listsAllTimersExceptThoseWithADamagedPayload() throws Exception {
    fill(2_000);
    try (var files = Files.list(store())) {
      Path blobs =
          files.filter(file -> file.toString().endsWith(".blob")).findFirst().orElseThrow();
      damage(blobs, 0.4);
    }
    try (RocksTimerStore store = Fixture.open(store())) {
      assertThat(Fixture.all(store)).hasSize(TIMERS - 1);
      List<TimerRecord> sorted = new ArrayList<>();
      TimerPage page;
      DuePosition after = null;
      do {
        page = store.sorted(ALL, TimerOrder.DUE, after, 300);
        sorted.addAll(page.records());
        after = TimerOrder.DUE.position(sorted.get(sorted.size() - 1));
      } while (page.next() != null);
      assertThat(sorted).hasSize(TIMERS - 1);
    }
  }

  @Test
  void aListContinuesAfterPagesThatCannotBeRead() throws Exception {
    try (RocksTimerStore store = Fixture.open(store())) {
      store.commit(List.of(timer(0, 2_000), timer(1, 2_000), timer(2, 2_000), timer(3, 9)));
      store.inspect(
          (database, bounds) -> {
            try (Batch batch = new Batch(database)) {
              for (int i = 0; i < 3; i++) {
                batch.delete(Family.PAYLOADS, Keys.timer(key(id(i))));
              }
              batch.write(true);
              return true;
            } catch (RocksDBException e) {
              throw new AssertionError(e);
            }
          });
      TimerPage page = store.sorted(ALL, TimerOrder.DUE, null, 2);
      assertThat(page.records()).extracting(TimerRecord::key).containsExactly(key(id(3)));
    }
  }

  /** After every 1,000 deletions, a commit looks for the first entry of an index. */
  @Test
  void aCommitSucceedsAlthoughAnIndexIsDamaged() throws Exception {
    fill(300);
    change(timer -> new Change.Cancel(timer.key(), 0, NOW));
    damage(tables(Family.FINISHED).get(0), 0);
    try (RocksTimerStore store = Fixture.open(store())) {
      List<Change> again = new ArrayList<>();
      for (int i = 1_000; i < TIMERS; i++) {
        again.add(timer(i, 9));
      }
      assertThat(store.commit(again))
          .hasSize(1_000)
          .allMatch(outcome -> outcome.answer() == Outcome.Answer.CREATED);
      assertThat(store.figures().damagedReads()).isOne();
    }
  }
}
