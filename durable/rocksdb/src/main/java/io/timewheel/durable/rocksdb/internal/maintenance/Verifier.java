// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.maintenance;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.rocksdb.internal.format.Meta;
import io.timewheel.durable.rocksdb.internal.store.Counts;
import io.timewheel.durable.rocksdb.internal.store.Rows;
import io.timewheel.durable.spi.Scopes;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.format.ByteWriter;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.format.RecordCodec.Stored;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.RequestAnswer;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;

/**
 * Compares the families with each other, as of one moment.
 *
 * <p>The records determine which entries must exist. First, each record's entries are looked up.
 * Then the entries of each index are counted. If the count equals the number of entries found, the
 * index is correct. If not, each entry is traced back to its record.
 *
 * <p>A repair runs the same scan, rebuilds the indexes and the counters from the records, and
 * reports only the problems that it has fixed.
 */
public final class Verifier {
  private final Database database;
  private final Snapshot snapshot;
  private final ReadOptions options;
  private final Runnable check;
  private final @Nullable Fixes fixes;
  private final ByteWriter scratch = new ByteWriter();
  private final Map<Family, Long> found = new EnumMap<>(Family.class);
  private final StateCounts counted = new StateCounts();
  private final List<String> texts = new ArrayList<>();
  private long lastVersion;
  private long highestVersion;

  /** False if some records may be unreadable. */
  private boolean hasAllRecords = true;

  private byte @Nullable [] dueFrom;
  private long timers;
  private long problems;

  private Verifier(
      Database database,
      Snapshot snapshot,
      ReadOptions options,
      Runnable check,
      @Nullable Fixes fixes) {
    this.check = check;
    this.fixes = fixes;
    this.database = database;
    this.snapshot = snapshot;
    this.options = options;
  }

  /**
   * Compares all families.
   *
   * @param check called before each entry; may throw to end the verification early
   */
  public static VerifyReport verify(Database database, Runnable check) {
    return run(database, check, null);
  }

  /** Verifies, and adds the fixes. Reports only problems that can be fixed. */
  static VerifyReport repair(Database database, Runnable check, Fixes fixes) {
    return run(database, check, fixes);
  }

  private static VerifyReport run(Database database, Runnable check, @Nullable Fixes fixes) {
    Snapshot snapshot = database.db().getSnapshot();
    // A scan of all families must not evict the entries that timers need from the cache.
    try (ReadOptions options = new ReadOptions().setSnapshot(snapshot).setFillCache(false)) {
      return new Verifier(database, snapshot, options, check, fixes).verify();
    } finally {
      database.db().releaseSnapshot(snapshot);
    }
  }

  private VerifyReport verify() {
    readMeta();
    scan(Family.TIMERS, this::visitRecord);
    for (Family family : List.of(Family.PAYLOADS, Family.DUE, Family.READY, Family.FINISHED)) {
      long[] entries = {0};
      scan(family, at -> entries[0]++);
      if (entries[0] != found.getOrDefault(family, 0L)) {
        scan(family, at -> visitEntry(family, at.key()));
      }
    }
    scan(Family.ANSWERS, this::visitAnswer);
    compareCounts();
    return new VerifyReport(timers, problems, texts);
  }

  /** Visits an entry of a family. */
  private interface Visitor {
    void visit(RocksIterator at) throws RocksDBException;
  }

  /** Scans a family. Reports unreadable entries, and skips the rest of the family after them. */
  private void scan(Family family, Visitor visitor) {
    try {
      database.scan(
          family,
          null,
          null,
          snapshot,
          at -> {
            check.run();
            try {
              visitor.visit(at);
            } catch (RocksDBException e) {
              problem(
                  hex(family, at.key()), "its related entries cannot be read: " + e.getMessage());
            }
            return true;
          });
    } catch (RocksDBException e) {
      problem("the family " + family, "cannot be read further: " + e.getMessage());
      hasAllRecords &= family != Family.TIMERS;
    }
  }

  /** Fixes a problem. */
  private interface Fix {
    void addTo(Fixes fixes);
  }

  /** Reports a problem that a repair cannot fix. */
  private void problem(Object where, String what) {
    problem(where, what, null);
  }

  private void problem(Object where, String what, @Nullable Fix fix) {
    if (fixes != null) {
      if (fix == null) {
        return;
      }
      fix.addTo(fixes);
    }
    problems++;
    if (texts.size() < VerifyReport.MAX_TEXTS) {
      texts.add(where + ": " + what);
    }
  }

  private byte @Nullable [] get(Family family, byte[] key) throws RocksDBException {
    return database.get(family, key, options);
  }

  private void readMeta() {
    try {
      dueFrom = get(Family.META, Meta.dueFrom());
      byte[] version = get(Family.META, Meta.lastVersion());
      lastVersion = version == null ? 0 : Meta.number(version);
    } catch (RocksDBException | MalformedException e) {
      problem("the last version", "cannot be read: " + e.getMessage());
    }
  }

  // From a record to its entries

  private void visitRecord(RocksIterator at) throws RocksDBException {
    timers++;
    byte[] timer = at.key();
    TimerKey key;
    try {
      key = Keys.timer(timer);
    } catch (MalformedException e) {
      hasAllRecords = false;
      problem(hex(Family.TIMERS, timer), "not a key: " + e.getMessage());
      return;
    }
    try {
      visitRecord(timer, RecordCodec.decode(key, at.value(), RecordCodec.LEFT_OUT));
    } catch (MalformedException e) {
      hasAllRecords = false;
      problem(key, "the record cannot be read: " + e.getMessage());
    }
  }

  private void visitRecord(byte[] timer, Stored stored) throws RocksDBException {
    TimerRecord record = stored.record();
    TimerKey key = record.key();
    counted.add(record, 1);
    highestVersion = Math.max(highestVersion, record.version());
    if (record.version() > lastVersion) {
      problem(
          key,
          "version " + record.version() + ", but the last one was " + lastVersion,
          to -> to.put(Family.META, Meta.lastVersion(), Meta.number(highestVersion)));
    }
    if (stored.payloadApart()) {
      expect(Family.PAYLOADS, timer, key, null);
    }
    if (record.isIndexed() != TimerRecord.isIndexed(record.state())) {
      problem(
          key,
          "in state "
              + record.state()
              + (record.isIndexed() ? " with" : " without")
              + " a time to fire at");
    }
    if (record.isIndexed()) {
      byte[] due = Rows.due(timer, record);
      expect(Family.DUE, due, key, Entries.encodeDue(record, scratch));
      if (dueFrom != null && Arrays.compareUnsigned(due, dueFrom) < 0) {
        problem(
            key,
            "due at " + record.fireAt() + ", before the beginning of the due index",
            to -> to.delete(Family.META, Meta.dueFrom()));
      }
    }
    if (Rows.isInReadyIndex(record)) {
      expect(Family.READY, Rows.ready(record), key, Entries.present());
    }
    if (record.state().isFinished()) {
      expect(Family.FINISHED, Rows.finished(timer, record), key, Entries.present());
    }
  }

  /**
   * Looks up an entry.
   *
   * @param value the value that a repair writes; null if the value does not matter and cannot be
   *     repaired
   */
  private void expect(Family family, byte[] entry, TimerKey key, byte @Nullable [] value)
      throws RocksDBException {
    byte[] stored = get(family, entry);
    Fix fix = value == null ? null : to -> to.put(family, entry, value);
    if (stored == null) {
      problem(key, "no entry in the family " + family, fix);
      return;
    }
    found.merge(family, 1L, Long::sum);
    if (value != null && !Arrays.equals(stored, value)) {
      problem(key, "its entry in the family " + family + " differs from the record", fix);
    }
  }

  // From an entry to its record

  private void visitEntry(Family family, byte[] entry) throws RocksDBException {
    TimerKey key;
    long time;
    Fix fix = to -> to.delete(family, entry);
    try {
      DuePosition position = position(family, entry);
      key = position.key();
      time = position.fireAt();
    } catch (MalformedException e) {
      problem(hex(family, entry), "not a key: " + e.getMessage(), fix);
      return;
    }
    byte[] timer = Keys.timer(key);
    byte[] value = get(Family.TIMERS, timer);
    if (value == null) {
      problem(key, "an entry in the family " + family + ", but no record", fix);
      return;
    }
    try {
      Stored stored = RecordCodec.decode(key, value, RecordCodec.LEFT_OUT);
      if (!Arrays.equals(entry, expected(family, timer, stored))) {
        String when = family == Family.PAYLOADS ? "" : " at " + time;
        String what = "an entry in the family " + family + when + " that its record does not have";
        problem(key, what, fix);
      }
    } catch (MalformedException e) {
      // Already reported by the visit of the record.
    }
  }

  /** {@return the time and the timer in a key of an index} */
  static DuePosition position(Family family, byte[] entry) {
    return switch (family) {
      case DUE -> Keys.due(entry);
      case FINISHED -> Keys.finished(entry);
      case READY -> Keys.ready(entry);
      default -> new DuePosition(0, Keys.timer(entry));
    };
  }

  private static byte @Nullable [] expected(Family family, byte[] timer, Stored stored) {
    TimerRecord record = stored.record();
    return switch (family) {
      case DUE -> record.isIndexed() ? Rows.due(timer, record) : null;
      case FINISHED -> record.state().isFinished() ? Rows.finished(timer, record) : null;
      case READY -> Rows.isInReadyIndex(record) ? Rows.ready(record) : null;
      default -> stored.payloadApart() ? timer : null;
    };
  }

  // Answers of requests

  /** Visits an answer, or its position in the order of time, which is in the same family. */
  private void visitAnswer(RocksIterator at) throws RocksDBException {
    byte[] entry = at.key();
    Fix delete = to -> to.delete(Family.ANSWERS, entry);
    try {
      if (Keys.isAnswer(entry)) {
        RequestAnswer answer = Keys.answer(entry, at.value());
        byte[] place = Keys.answeredAt(answer.answeredAt(), entry);
        if (get(Family.ANSWERS, place) == null) {
          problem(
              answer.key(),
              "the answer of request " + answer.request().id() + " is not in the order of time",
              to -> to.put(Family.ANSWERS, place, Entries.present()));
        }
      } else {
        byte[] answer = Keys.answer(entry);
        byte[] value = get(Family.ANSWERS, answer);
        if (value == null || Keys.answer(answer, value).answeredAt() != Keys.answeredAt(entry)) {
          problem(hex(Family.ANSWERS, entry), "an index entry without an answer", delete);
        }
      }
    } catch (MalformedException | IllegalArgumentException | IndexOutOfBoundsException e) {
      problem(hex(Family.ANSWERS, entry), "cannot be read: " + e.getMessage(), delete);
    }
  }

  // Counters

  private void compareCounts() {
    byte[] all = Meta.allCounts();
    Set<String> compared = new HashSet<>();
    scan(
        Family.META,
        at -> {
          if (Arrays.mismatch(at.key(), all) == all.length) {
            compareCounts(at, compared);
          }
        });
    for (String scope : counted.scopes()) {
      if (!compared.contains(scope)) {
        compare(scope, Map.of());
      }
    }
  }

  private void compareCounts(RocksIterator at, Set<String> compared) {
    String scope = Meta.scope(at.key());
    try {
      compare(scope, Counts.decode(at.value()));
      compared.add(scope);
    } catch (MalformedException e) {
      problem("the counters of " + Scopes.describe(scope), "cannot be read: " + e.getMessage());
    }
  }

  private void compare(String scope, Map<TimerState, Long> stored) {
    byte[] counters = Meta.counts(scope);
    Map<TimerState, Long> right = counted.of(scope);
    Fix fix =
        !hasAllRecords
            ? null
            : right.isEmpty()
                ? to -> to.delete(Family.META, counters)
                : to -> to.put(Family.META, counters, Counts.encode(right));
    for (TimerState state : TimerState.values()) {
      long found = stored.getOrDefault(state, 0L);
      long expected = right.getOrDefault(state, 0L);
      if (found != expected) {
        problem(
            "the counter of " + Scopes.describe(scope) + " in state " + state,
            found + " (expected: " + expected + ")",
            fix);
      }
    }
  }

  private static String hex(Family family, byte[] key) {
    return "a key of the family " + family + ", " + HexFormat.of().formatHex(key);
  }
}
