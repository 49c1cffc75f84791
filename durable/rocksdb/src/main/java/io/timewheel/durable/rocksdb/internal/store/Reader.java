// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.store;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.rocksdb.internal.file.Database;
import io.timewheel.durable.rocksdb.internal.file.Failures;
import io.timewheel.durable.rocksdb.internal.file.Family;
import io.timewheel.durable.rocksdb.internal.format.Entries;
import io.timewheel.durable.rocksdb.internal.format.Keys;
import io.timewheel.durable.spi.PageBuilder;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.format.MalformedException;
import io.timewheel.durable.spi.format.RecordCodec;
import io.timewheel.durable.spi.record.DuePosition;
import io.timewheel.durable.spi.record.DueTimer;
import io.timewheel.durable.spi.record.HandlerNames;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Snapshot;

/**
 * Reads timers. Thread-safe, also while the writer writes. Each call reads a snapshot of one
 * moment.
 *
 * <p>An unreadable entry is reported and skipped, so that it affects no other timer.
 */
public final class Reader {
  /** The maximum number of records that one page examines. */
  private static final int MAX_LOOKED_AT = 10_000;

  private final Database database;
  private final Failures failures;
  private final FrontBound dueBound;

  public Reader(Database database, Failures failures, FrontBound dueBound) {
    this.database = database;
    this.failures = failures;
    this.dueBound = dueBound;
  }

  @Nullable
  public TimerRecord get(TimerKey key) {
    try (Moment moment = new Moment(database.db().getSnapshot())) {
      byte[] timer = Keys.timer(key);
      byte[] value = database.get(Family.TIMERS, timer, moment.options);
      return value == null
          ? null
          : RecordCodec.decode(key, value, () -> payload(timer, moment)).record();
    } catch (MalformedException e) {
      throw failures.lookup(key, e);
    } catch (RocksDBException e) {
      throw failures.lookup("cannot read " + key, e);
    }
  }

  /** Reads records without payloads that are stored separately. */
  public Map<TimerKey, TimerRecord> read(List<TimerKey> keys) {
    Map<TimerKey, TimerRecord> found = new HashMap<>(2 * keys.size());
    for (TimerKey key : keys) {
      try {
        byte[] value = database.get(Family.TIMERS, Keys.timer(key));
        if (value != null) {
          found.put(key, RecordCodec.decode(key, value, RecordCodec.LEFT_OUT).record());
        }
      } catch (MalformedException e) {
        throw failures.lookup(key, e);
      } catch (RocksDBException e) {
        throw failures.lookup("cannot read " + key, e);
      }
    }
    return found;
  }

  private byte[] payload(byte[] timer, Moment moment) {
    try {
      byte[] payload = database.get(Family.PAYLOADS, timer, moment.options);
      if (payload == null) {
        throw new MalformedException("its payload is missing");
      }
      return payload;
    } catch (RocksDBException e) {
      if (Failures.isDamage(e)) {
        throw new MalformedException("its payload cannot be read: " + Failures.reason(e));
      }
      throw failures.reading("cannot read the payload of " + Keys.timer(timer), e);
    }
  }

  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    if (limit <= 0) {
      return List.of();
    }
    byte[] end = Keys.due(shard, until);
    byte[] behind =
        after == null
            ? Keys.due(shard, Long.MIN_VALUE)
            : Keys.behind(Keys.due(shard, after.fireAt(), Keys.timer(after.key())));
    List<DueTimer> found = new ArrayList<>();
    try {
      byte[] from;
      do {
        found.clear();
        from = dueBound.from();
        database.scanReadable(
            Family.DUE,
            Arrays.compareUnsigned(from, behind) > 0 ? from : behind,
            end,
            null,
            at -> {
              addDue(at, found);
              return found.size() < limit;
            },
            why -> failures.damaged("cannot read the due index", why));
      } while (Arrays.compareUnsigned(dueBound.from(), from) < 0);
    } catch (RocksDBException e) {
      throw failures.reading("cannot read the due index", e);
    }
    return found;
  }

  private void damagedTimers(RocksDBException why) {
    failures.damaged("cannot read a part of the timers", why);
  }

  private void addDue(RocksIterator at, List<DueTimer> found) {
    try {
      DuePosition position = Keys.due(at.key());
      found.add(Entries.decodeDue(position.key(), position.fireAt(), at.value()));
    } catch (MalformedException e) {
      failures.damaged("an entry of the due index cannot be read", e);
    }
  }

  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    byte[] from = null;
    byte[] to = null;
    String namespace = query.namespace();
    if (namespace != null) {
      from = Keys.timer(new TimerKey(namespace, query.prefix()));
      to = Keys.behindAll(from);
    }
    if (after != null) {
      byte[] behind = Keys.behind(Keys.timer(after));
      from = from == null || Arrays.compareUnsigned(behind, from) > 0 ? behind : from;
    }
    if (from != null && to != null && Arrays.compareUnsigned(from, to) >= 0) {
      return new TimerPage(List.of(), null);
    }
    Paging paging = new Paging(query, limit);
    try (Moment moment = new Moment(database.db().getSnapshot())) {
      database.scanReadable(
          Family.TIMERS,
          from,
          to,
          moment.snapshot,
          at -> paging.visit(at, moment),
          this::damagedTimers);
    } catch (RocksDBException e) {
      throw failures.reading("cannot list timers", e);
    }
    return new TimerPage(paging.page.build(true).records(), paging.next);
  }

  /**
   * Sorts the positions of all matching timers, keeps those of one page, and reads their records.
   */
  public TimerPage sorted(
      TimerQuery query, TimerOrder order, @Nullable DuePosition after, int limit) {
    byte[] from =
        Keys.timer(new TimerKey(requireNonNull(query.namespace(), "namespace"), query.prefix()));
    try (Moment moment = new Moment(database.db().getSnapshot())) {
      FirstPositions first = new FirstPositions(order, after, limit + 1);
      database.scanReadable(
          Family.TIMERS,
          from,
          Keys.behindAll(from),
          moment.snapshot,
          at -> {
            failures.checkGoesOn(database);
            TimerRecord record = recordIfSound(at.key(), at.value(), RecordCodec.LEFT_OUT);
            if (record != null && query.matches(record)) {
              first.add(order.position(record));
            }
            return true;
          },
          this::damagedTimers);
      List<DuePosition> positions = first.inOrder();
      PageBuilder page = new PageBuilder(query, limit);
      for (DuePosition position : positions) {
        if (page.isFull()) {
          return page.build(false);
        }
        byte[] key = Keys.timer(position.key());
        byte[] value = requireNonNull(database.get(Family.TIMERS, key, moment.options));
        TimerRecord record =
            recordIfSound(
                key, value, query.payload() ? () -> payload(key, moment) : RecordCodec.LEFT_OUT);
        if (record != null) {
          page.add(record);
        }
      }
      boolean isLast = positions.size() <= limit;
      if (isLast || page.left() < limit) {
        return page.build(isLast);
      }
      return sorted(query, order, positions.get(limit), limit); // none of these can be read
    } catch (RocksDBException e) {
      throw failures.reading("cannot list timers", e);
    }
  }

  private @Nullable TimerRecord recordIfSound(
      byte[] bytes, byte[] value, RecordCodec.Payloads payloads) {
    TimerKey key = Keys.timer(bytes);
    try {
      return RecordCodec.decode(key, value, payloads).record();
    } catch (MalformedException e) {
      failures.damaged("the record of " + key + " cannot be read", e);
      return null;
    }
  }

  /** Keeps the first positions after a given one, out of all that are added. */
  private static final class FirstPositions {
    private final Comparator<DuePosition> comparator;
    private final @Nullable DuePosition after;
    private final int limit;
    private final PriorityQueue<DuePosition> lastFirst;

    FirstPositions(TimerOrder order, @Nullable DuePosition after, int limit) {
      comparator = order.comparator();
      this.after = after;
      this.limit = limit;
      lastFirst = new PriorityQueue<>(comparator.reversed());
    }

    void add(DuePosition position) {
      if (after != null && comparator.compare(position, after) <= 0) {
        return;
      }
      if (lastFirst.size() == limit) {
        if (comparator.compare(position, requireNonNull(lastFirst.peek())) >= 0) {
          return;
        }
        lastFirst.remove();
      }
      lastFirst.add(position);
    }

    List<DuePosition> inOrder() {
      return lastFirst.stream().sorted(comparator).toList();
    }
  }

  public List<DueTimer> releasable(
      NavigableSet<String> some,
      HandlerNames handlers,
      Set<String> namespaces,
      @Nullable DueTimer after,
      int limit) {
    List<DueTimer> found = new ArrayList<>();
    String first = after == null ? "" : after.key().namespace();
    try {
      for (String namespace : some.tailSet(first, true)) {
        byte[] from = Keys.namespace(namespace);
        byte[] to = Keys.behindAllOf(from);
        if (after != null && namespace.equals(first)) {
          from = Keys.behind(Keys.timer(after.key()));
        }
        database.scanReadable(
            Family.TIMERS,
            from,
            to,
            null,
            at -> {
              failures.checkGoesOn(database);
              if (found.size() < limit) {
                addReleasable(at, handlers, namespaces, found);
              }
              return found.size() < limit;
            },
            this::damagedTimers);
      }
    } catch (RocksDBException e) {
      throw failures.reading("cannot find the timers to release", e);
    }
    return found;
  }

  private void addReleasable(
      RocksIterator at, HandlerNames handlers, Set<String> namespaces, List<DueTimer> found) {
    TimerKey key = Keys.timer(at.key());
    try {
      TimerRecord record = RecordCodec.decode(key, at.value(), RecordCodec.LEFT_OUT).record();
      if (record.isReleasable(handlers, namespaces)) {
        found.add(record.due());
      }
    } catch (MalformedException e) {
      failures.damaged("the record of " + key + " cannot be read", e);
    }
  }

  /** Collects the timers of one page. */
  private final class Paging {
    final TimerQuery query;
    final PageBuilder page;
    @Nullable TimerKey last;
    @Nullable TimerKey next;
    int lookedAt;

    Paging(TimerQuery query, int limit) {
      this.query = query;
      page = new PageBuilder(query, limit);
    }

    boolean visit(RocksIterator at, Moment moment) {
      if (page.isFull() || lookedAt++ >= MAX_LOOKED_AT) {
        next = last;
        return false;
      }
      byte[] bytes = at.key();
      TimerKey key = Keys.timer(bytes);
      last = key;
      try {
        byte[] value = at.value();
        TimerRecord record = RecordCodec.decode(key, value, RecordCodec.LEFT_OUT).record();
        if (query.matches(record)) {
          page.add(
              query.payload()
                  ? RecordCodec.decode(key, value, () -> payload(bytes, moment)).record()
                  : record);
        }
      } catch (MalformedException e) {
        failures.damaged("the record of " + key + " cannot be read", e);
      }
      return true;
    }
  }

  /**
   * Counts waiting timers by their time.
   *
   * @param namespace the namespace; null for all
   * @param timers the number of timers of the namespace, including finished ones
   */
  public long[] histogram(@Nullable String namespace, long timers, long[] bounds) {
    try {
      return new Histogram(database, failures, namespace, bounds).count(timers);
    } catch (RocksDBException e) {
      throw failures.reading("cannot count timers", e);
    }
  }

  /** A snapshot of all families. */
  private final class Moment implements AutoCloseable {
    final Snapshot snapshot;
    final ReadOptions options;

    Moment(Snapshot snapshot) {
      this.snapshot = snapshot;
      options = new ReadOptions().setSnapshot(snapshot);
    }

    @Override
    public void close() {
      options.close();
      database.db().releaseSnapshot(snapshot);
    }
  }
}
