// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.api.WheelAnswer;
import io.timewheel.durable.DurableTimer;
import io.timewheel.server.json.Json;
import io.timewheel.server.node.Node;
import io.timewheel.server.node.WatchedStore;
import io.timewheel.server.security.Scope;
import io.timewheel.server.store.StoreReads;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Counts timers by their time, as levels of slots. The console draws them as a wheel.
 *
 * <p>A count of a level reads all of its timers, which takes seconds if there are millions. So one
 * level is counted at a time, and requests wait for it without a thread. A count stays valid for
 * twenty times as long as it took. So the wheel costs at most a twentieth of a processor, for any
 * number of viewers.
 */
public final class WheelView {
  private static final long WORTH = 20;
  private static final long LEAST_NANOS = Duration.ofMillis(100).toNanos();

  /** The number of levels that are kept, of all scopes. */
  private static final int MAX_KEPT = 1_000;

  private final Node node;
  private final Executor executor;
  private final LongSupplier nanoTime;
  private final Map<Key, CompletableFuture<Counted>> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, CompletableFuture<Counted>> eldest) {
          return size() > MAX_KEPT;
        }
      };

  /** The levels of a clock. Slots begin at whole multiples of their length since 1970. */
  enum Level {
    MINUTE(Duration.ofSeconds(1), 60),
    HOUR(Duration.ofMinutes(1), 60),
    DAY(Duration.ofHours(1), 24),
    YEAR(Duration.ofDays(1), 366);

    private final Duration slot;
    private final int slots;

    Level(Duration slot, int slots) {
      this.slot = slot;
      this.slots = slots;
    }

    private Instant from(Instant now) {
      long slotMillis = slot.toMillis();
      return Instant.ofEpochMilli(Math.floorDiv(now.toEpochMilli(), slotMillis) * slotMillis);
    }

    /** Returns the ISO length of a slot. A day is a unit of dates, which Duration lacks. */
    private String length() {
      return this == YEAR ? "P1D" : slot.toString();
    }
  }

  private record Key(Scope scope, Level level) {}

  /**
   * A counted level.
   *
   * @param counts the number of timers in each slot
   * @param before the number of timers due before the first slot, if this is the finest level
   * @param beyond the number of timers due after the last slot, if this is the coarsest level
   * @param staleNanos the time until which the count is valid
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Counted(
      Level level,
      Instant asOf,
      Instant from,
      long[] counts,
      long before,
      long beyond,
      long staleNanos) {

    WheelAnswer.Level answer() {
      List<Long> slots = Arrays.stream(counts).boxed().toList();
      return new WheelAnswer.Level(Json.name(level), level.length(), from, asOf, slots);
    }
  }

  /**
   * Creates a view.
   *
   * @param executor runs the counts, one level at a time
   * @param nanoTime measures the time of a count
   */
  public WheelView(Node node, Executor executor, LongSupplier nanoTime) {
    this.node = node;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  /** {@return the wheel, once it is counted} */
  public CompletableFuture<WheelAnswer> answer(StoreReads reads, Scope scope) {
    List<CompletableFuture<Counted>> levels = new ArrayList<>();
    for (Level level : Level.values()) {
      levels.add(level(reads, scope, level));
    }
    return CompletableFuture.allOf(levels.toArray(new CompletableFuture<?>[0]))
        .thenApply(
            all -> answer(reads.timer(), levels.stream().map(CompletableFuture::join).toList()));
  }

  private CompletableFuture<Counted> level(StoreReads reads, Scope scope, Level level) {
    Key key = new Key(scope, level);
    synchronized (kept) {
      CompletableFuture<Counted> known = kept.get(key);
      if (known != null && isGood(known)) {
        return known;
      }
      CompletableFuture<Counted> counting =
          CompletableFuture.supplyAsync(() -> count(reads, scope, level), executor);
      kept.put(key, counting);
      return counting;
    }
  }

  private boolean isGood(CompletableFuture<Counted> known) {
    return !known.isDone()
        || (!known.isCompletedExceptionally()
            && known.join().staleNanos - nanoTime.getAsLong() > 0);
  }

  private Counted count(StoreReads reads, Scope scope, Level level) {
    long beganNanos = nanoTime.getAsLong();
    Instant now = reads.timer().now();
    Instant from = level.from(now);
    Instant to = from.plus(level.slot.multipliedBy(level.slots));
    long[] counts = reads.histogram(scope, from, to, level.slots);
    long before =
        level == Level.MINUTE ? reads.histogram(scope, StoreReads.BEGIN_OF_TIME, from, 1)[0] : 0;
    long beyond =
        level == Level.YEAR ? reads.histogram(scope, to, StoreReads.END_OF_TIME, 1)[0] : 0;
    long endedNanos = nanoTime.getAsLong();
    long goodNanos = Math.max(LEAST_NANOS, WORTH * (endedNanos - beganNanos));
    return new Counted(level, now, from, counts, before, beyond, endedNanos + goodNanos);
  }

  private WheelAnswer answer(DurableTimer timer, List<Counted> levels) {
    WatchedStore store = node.store();
    return new WheelAnswer(
        timer.now(),
        store == null ? null : store.traits().window(),
        timer.stats().window(),
        levels.get(0).before,
        levels.stream().map(Counted::answer).toList(),
        levels.get(levels.size() - 1).beyond);
  }
}
