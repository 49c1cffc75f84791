// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.due.DueEntry;
import io.timewheel.durable.internal.due.DueQueue;
import io.timewheel.durable.internal.due.MissedRule;
import io.timewheel.durable.model.Handler;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The due timers of one handler. An entry waits for a concurrency slot of the {@code SlotBudget}.
 * Then its attempt is claimed and passed to {@code HandlerAttempts}.
 */
public final class HandlerQueue {
  private final Parts parts;
  private final AttemptContext context;
  private final Config config;
  private final Runnable onUnused;
  private final SlotBudget slots;
  private final HandlerAttempts attempts;
  private final DueQueue waiting = new DueQueue();
  private volatile boolean closed;

  /** The settings of a handler. */
  public record Config(String name, Handler handler, int limit, @Nullable Duration timeLimit) {
    Config withName(String other) {
      return new Config(other, handler, limit, timeLimit);
    }
  }

  /**
   * The parts of the engine that the queues of all handlers use.
   *
   * @param executor runs the handlers
   * @param onFreed receives the name of a handler that has a free slot again
   */
  public record Parts(
      AttemptContext context, MissedRule missed, Executor executor, Consumer<String> onFreed) {}

  /**
   * @param shared the slots that the handler shares with others; null for none
   * @param onUnused called without a lock when the queue has no due timers and no attempts
   */
  HandlerQueue(Parts parts, Config config, SlotBudget.@Nullable Shared shared, Runnable onUnused) {
    this.parts = parts;
    this.context = parts.context();
    this.config = config;
    this.onUnused = onUnused;
    slots = new SlotBudget(config.name(), config.limit(), shared);
    attempts = new HandlerAttempts(context, config, parts.executor(), slots, this::useFreeSlots);
  }

  /** Adds a due entry, which {@link #claimMore} claims. */
  void offer(DueEntry entry) {
    waiting.add(entry);
    if (closed) {
      waiting.clear();
    }
  }

  /** Claims as many entries as there are free slots. Never blocks. */
  void claimMore() {
    while (!waiting.isEmpty() && !closed && slots.acquire()) {
      DueEntry entry = null;
      try {
        entry = waiting.take();
      } finally {
        if (entry == null) {
          slots.release(1, 0);
        }
      }
      if (entry != null) {
        claim(entry);
      }
    }
    if (isUnused()) {
      onUnused.run();
    }
  }

  /** Uses free slots for claims, and offers the others for leases. */
  void useFreeSlots() {
    parts.onFreed().accept(config.name());
    claimMore();
  }

  // Claims

  private void claim(DueEntry entry) {
    parts
        .missed()
        .decide(
            entry,
            run -> {
              if (run == null) {
                slots.release(1, 0);
                claimMore();
              } else {
                claim(entry, run);
              }
            });
  }

  /** Claims an attempt, or skips the run. */
  private void claim(DueEntry entry, MissedRule.Run run) {
    ClaimToken token = entry.newToken();
    long nowMillis = context.nowMillis();
    Change change =
        run.skips()
            ? entry.skip(run.atMillis(), nowMillis)
            : entry.claim(token, run.atMillis(), nowMillis);
    long pausesBefore = context.pauseGate().pauses();
    context
        .committer()
        .submitOwn(
            change,
            entry.due.fireAt(),
            outcome -> {
              if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
                context.health().dropped(entry.due.key(), run.dropped());
              }
              TimerRecord claimed = claimed(token, outcome);
              if (claimed == null) {
                slots.release(1, 0);
                entry.shard().answered(entry.due.key(), outcome);
                claimMore();
              } else {
                begin(entry, claimed, pausesBefore);
              }
            });
  }

  /** Returns the record if this engine has claimed it. */
  private static @Nullable TimerRecord claimed(ClaimToken token, @Nullable Outcome outcome) {
    TimerRecord record = outcome == null ? null : outcome.record();
    Claim claim = record == null ? null : record.claim();
    boolean mine =
        outcome != null
            && outcome.answer() == Outcome.Answer.APPLIED
            && claim != null
            && claim.token().equals(token);
    return mine ? record : null;
  }

  private void begin(DueEntry entry, TimerRecord record, long pausesBefore) {
    if (entry.due.state() == TimerState.RUNNING) {
      context.health().counters.lost.increment();
    }
    attempts.begin(
        new AttemptRun(
            context, attempts, config, entry.shard(), record, entry.due.fireAt(), pausesBefore));
  }

  // Leases

  /** Reserves slots for timers that will be leased. Returns their number. */
  int reserve(int most) {
    return closed ? 0 : slots.reserve(most);
  }

  /** Frees reserved slots for which no timer was leased. */
  void release(int unused) {
    slots.release(unused, unused);
    claimMore();
  }

  void leased(TimerRecord record, ClaimHolder holder, long pausesBefore) {
    attempts.begin(
        new AttemptRun(
            context, attempts, config, holder, record, context.nowMillis(), pausesBefore));
  }

  // State

  /** Removes dropped entries, checks the attempts, and asks again for slots that threw. */
  void maintain() {
    waiting.sweep();
    attempts.maintain();
    claimMore();
  }

  /** Claims no further attempts, and gives back claimed attempts that have not begun. */
  void close() {
    closed = true;
    waiting.clear();
    attempts.close();
  }

  /** Gives back claimed attempts that have not begun; they do not count. */
  public void giveBack(Predicate<AttemptRun> which) {
    attempts.giveBack(which);
  }

  HandlerAttempts attempts() {
    return attempts;
  }

  int waiting() {
    return waiting.size();
  }

  boolean isIdle() {
    return slots.isUnused();
  }

  /**
   * Returns whether the queue has no due timers and no attempts, while no entry is added. A thread
   * takes a slot before it takes an entry, and puts an entry back before it frees the slot. So an
   * entry in between is found by one of the three looks.
   */
  boolean isUnused() {
    return waiting.isEmpty() && slots.isUnused() && waiting.isEmpty();
  }
}
