// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.Timeout;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What is due for queues: made ready, leased to consumers, and taken back when leases run out. */
final class Queues {
  private static final System.Logger LOG = GuardedLog.LOG;

  /** For those in line together; bounds what they hold in memory, and how long others wait. */
  private static final int MAX_LEASED_AT_ONCE = 256;

  private final Engine engine;
  private final TimerStore store;
  private final SecureRandom random = new SecureRandom();
  private final Map<TimerKey, LinkedHashSet<Waiter>> waiters = new HashMap<>();
  private final Gate readying = new Gate(this::handle);
  private final AtomicInteger serving = new AtomicInteger();
  private boolean closed;

  Queues(Engine engine, TimerStore store) {
    this.engine = engine;
    this.store = store;
  }

  /** A consumer that waits. */
  private static final class Waiter {
    final TimerKey queue;
    final int max;
    final long leaseMillis;
    final CompletableFuture<List<QueueFiring>> future = new CompletableFuture<>();
    @Nullable Timeout timeout;

    Waiter(TimerKey queue, int max, long leaseMillis) {
      this.queue = queue;
      this.max = max;
      this.leaseMillis = leaseMillis;
    }
  }

  // Owner

  void due(DueEntry entry) {
    readying.enter(entry);
  }

  private void handle(DueEntry entry) {
    if (entry.due.state() == TimerState.FIRING) {
      if (!engine.executeStoreWork(() -> leaseIsOver(entry))) {
        readying.leave();
      }
      return;
    }
    if (!engine.missed.decide(
        entry, (scheduledAt, dropped) -> makeReady(entry, scheduledAt, dropped), readying::leave)) {
      readying.leave();
    }
  }

  /** Has a run claimed by whoever wants it, for which so many were dropped. */
  private void makeReady(DueEntry entry, long scheduledAt, long dropped) {
    engine.submitOwn(
        new Change.MakeReady(
            entry.due.key(),
            entry.due.version(),
            entry.due.revision(),
            entry.shard().epoch,
            scheduledAt,
            engine.nowMillis()),
        outcome -> {
          try {
            if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
              engine.dropped(entry.due.key(), dropped);
            }
          } finally {
            answered(entry, outcome);
          }
        });
  }

  private void answered(DueEntry entry, @Nullable Outcome outcome) {
    try {
      entry.shard().answered(entry.due.key(), outcome);
    } finally {
      readying.leave();
    }
  }

  private void leaseIsOver(DueEntry entry) {
    try {
      TimerRecord record = engine.read(entry.due.key());
      Claim claim = record == null ? null : record.claim();
      if (record == null || claim == null || !entry.isCurrent(record)) {
        entry.shard().ended(entry.due.key(), record);
        readying.leave();
        return;
      }
      AttemptEnd lost =
          failure(record, claim, true, entry.shard().epoch, "the lease ran out", null);
      engine.submitOwn(
          lost.change(),
          outcome -> {
            if (outcome != null) {
              engine.ends.recorded(lost, outcome);
            }
            answered(entry, outcome);
          });
    } catch (RuntimeException | Error e) {
      engine.reading.failed("a reading of " + entry.due.key(), e);
      entry.shard().endedUnknown(entry.due.key());
      readying.leave();
    }
  }

  /** Never, if this release cannot read the recurrence: then the timer is set aside. */
  private NextRun nextRun(TimerRecord record, Claim claim) {
    try {
      return engine.nextRun(record, claim);
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.WARNING, "no next run of " + record.key(), e);
      return new NextRun(TimerRecord.NEVER, 0);
    }
  }

  private AttemptEnd failure(
      TimerRecord record,
      Claim claim,
      boolean lost,
      long epoch,
      String error,
      @Nullable Duration after) {
    long now = engine.nowMillis();
    boolean exhausted = claim.attempt() >= record.definition().retry().maxAttempts();
    if (exhausted) {
      NextRun next = nextRun(record, claim);
      return new AttemptEnd(
          new Change.Finish(
              record.key(),
              claim.token(),
              epoch,
              lost ? Change.Finish.End.LOST_EXHAUSTED : Change.Finish.End.EXHAUSTED,
              next.atMillis(),
              error,
              now),
          next.dropped());
    }
    long waitMillis =
        after != null
            ? EpochMillis.ceil(after)
            : record.definition().retry().waitMillis(claim.attempt(), engine.random());
    return new AttemptEnd(
        new Change.Finish(
            record.key(),
            claim.token(),
            epoch,
            lost ? Change.Finish.End.LOST : Change.Finish.End.FAILED,
            EpochMillis.saturatedAdd(now, waitMillis),
            error,
            now),
        0);
  }

  // Consumers

  /**
   * Waits for something that is ready.
   *
   * @return completed with what was leased; whoever completes it before gives up the wait
   */
  CompletableFuture<List<QueueFiring>> claim(
      String namespace, String queue, int max, Duration lease, Duration wait) {
    Waiter waiter = new Waiter(new TimerKey(namespace, queue), max, EpochMillis.ceil(lease));
    boolean waits = !wait.isZero();
    synchronized (this) {
      if (closed) {
        waiter.future.complete(List.of());
        return waiter.future;
      }
      waiters.computeIfAbsent(waiter.queue, key -> new LinkedHashSet<>()).add(waiter);
    }
    var unused = waiter.future.whenComplete((firings, error) -> remove(waiter));
    if (waits) { // not before it is there to be given up
      limit(waiter, engine.waits().start(() -> giveUp(waiter), wait));
    }
    engine.executeStoreWork(() -> serve(waiter.queue, waits ? null : waiter));
    return waiter.future;
  }

  private synchronized void limit(Waiter waiter, @Nullable Timeout timeout) {
    waiter.timeout = timeout;
    if (timeout != null && waiter.future.isDone()) {
      timeout.cancel();
    }
  }

  void ready(String namespace, String queue) {
    TimerKey key = new TimerKey(namespace, queue);
    synchronized (this) {
      if (!waiters.containsKey(key)) {
        return;
      }
    }
    engine.executeStoreWork(() -> serve(key, null));
  }

  void sweep() {
    List<TimerKey> keys;
    synchronized (this) {
      keys = List.copyOf(waiters.keySet());
    }
    keys.forEach(key -> engine.executeStoreWork(() -> serve(key, null)));
  }

  /** Serves those who wait, first come first, until nothing is ready; one of them may not wait. */
  private void serve(TimerKey queue, @Nullable Waiter impatient) {
    serving.incrementAndGet();
    try {
      int most = 1;
      for (List<Waiter> line = line(queue, most); !line.isEmpty(); line = line(queue, most)) {
        List<QueueFiring> firings = lease(line);
        if (firings.isEmpty()) {
          break;
        }
        hand(firings, line);
        most = Math.min(2 * most, MAX_LEASED_AT_ONCE); // tokens cost more than to find nothing
      }
    } catch (RuntimeException | Error e) {
      List<Waiter> line = line(queue, 1);
      if (!line.isEmpty()) {
        line.get(0)
            .future
            .completeExceptionally(
                new DurableTimerException(
                    e instanceof StoreException failure
                        ? failure.reason()
                        : DurableTimerException.Reason.UNKNOWN,
                    0,
                    String.valueOf(e.getMessage()),
                    e));
      }
    } finally {
      if (impatient != null) {
        giveUp(impatient);
      }
      serving.decrementAndGet();
    }
  }

  /** Leases what those in line want, as long as the first of them does. */
  private List<QueueFiring> lease(List<Waiter> line) {
    Waiter first = line.get(0);
    List<ClaimToken> tokens = new ArrayList<>();
    for (int wanted = line.stream().mapToInt(waiter -> waiter.max).sum(); wanted > 0; wanted--) {
      tokens.add(new ClaimToken(random.nextLong(), random.nextLong()));
    }
    long now = engine.nowMillis();
    List<TimerRecord> records =
        store.lease(
            new LeaseRequest(
                first.queue.namespace(),
                first.queue.id(),
                tokens,
                EpochMillis.saturatedAdd(now, first.leaseMillis),
                now));
    List<QueueFiring> firings = new ArrayList<>();
    for (TimerRecord record : records) {
      engine.observe(record);
      firings.add(new QueueFiring(new Firing(record, now, engine.isMadeUp(record)), record));
    }
    return firings;
  }

  /** Those at the end of the line for whom nothing is left wait on. */
  private void hand(List<QueueFiring> firings, List<Waiter> line) {
    int from = 0;
    for (Waiter waiter : line) {
      int to = Math.min(from + waiter.max, firings.size());
      if (from == to) {
        return;
      }
      List<QueueFiring> its = List.copyOf(firings.subList(from, to));
      if (!waiter.future.complete(its)) {
        giveBack(its); // it has given up meanwhile
      }
      from = to;
    }
  }

  /** Gives back what nobody has taken: it does not count as an attempt. */
  void giveBack(List<QueueFiring> firings) {
    firings.forEach(this::giveBack);
  }

  private void giveBack(QueueFiring firing) {
    engine.submitOwn(
        new Change.Finish(
            firing.firing().key(),
            firing.token(),
            0,
            Change.Finish.End.GIVEN_BACK,
            engine.nowMillis(),
            null,
            engine.nowMillis()),
        outcome -> {});
  }

  /** What ends a lease as its consumer wants it; null if it is not open. */
  @Nullable AttemptEnd end(
      TimerRecord record, ClaimToken token, @Nullable String error, @Nullable Duration after) {
    Claim claim = record.claim();
    if (claim == null || !claim.token().equals(token)) {
      return null;
    }
    if (error != null) {
      return failure(record, claim, false, 0, error, after);
    }
    NextRun next = engine.nextRun(record, claim);
    return new AttemptEnd(success(record.key(), token, next.atMillis()), next.dropped());
  }

  Change.Finish success(TimerKey key, ClaimToken token, long nextMillis) {
    return new Change.Finish(
        key, token, 0, Change.Finish.End.SUCCEEDED, nextMillis, null, engine.nowMillis());
  }

  /**
   * Those who are first, whose leases are equally long, and who want so many together; the very
   * first may want more. Empty if nobody waits.
   */
  private synchronized List<Waiter> line(TimerKey queue, int most) {
    List<Waiter> line = new ArrayList<>();
    int wanted = 0;
    for (Waiter waiter : waiters.getOrDefault(queue, new LinkedHashSet<>())) {
      wanted += waiter.max;
      if (!line.isEmpty() && (wanted > most || waiter.leaseMillis != line.get(0).leaseMillis)) {
        break;
      }
      line.add(waiter);
    }
    return line;
  }

  private synchronized void remove(Waiter waiter) {
    LinkedHashSet<Waiter> waiting = waiters.get(waiter.queue);
    if (waiting != null && waiting.remove(waiter) && waiting.isEmpty()) {
      waiters.remove(waiter.queue);
    }
    if (waiter.timeout != null) {
      waiter.timeout.cancel();
    }
  }

  private static void giveUp(Waiter waiter) {
    waiter.future.complete(List.of());
  }

  /** Whether nothing is being leased that nobody may take. */
  boolean isIdle() {
    return serving.get() == 0;
  }

  /** Answers all who wait with nothing. */
  void close() {
    List<Waiter> all = new ArrayList<>();
    synchronized (this) {
      closed = true;
      waiters.values().forEach(all::addAll);
    }
    all.forEach(Queues::giveUp);
  }
}
