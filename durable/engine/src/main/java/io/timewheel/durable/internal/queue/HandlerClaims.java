// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this node's handlers on timers of other nodes' shards.
 *
 * <p>If the owner of a shard does not have the handler of a due timer, it makes the timer ready,
 * and the store notifies the other nodes. A node with the handler claims one ready timer for each
 * free slot of the handler, and runs it like an attempt of its own shards. It extends the claim
 * leases until the outcomes of the attempts are recorded. If the node crashes, the leases expire,
 * and the owners of the shards record the attempts as lost.
 */
final class HandlerClaims {
  private static final System.Logger LOG = GuardedLog.LOG;

  /**
   * The duration of a claim lease, the same as that of a node lease. After a crash of the node, the
   * timer waits this long.
   */
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** A claim lease with less time left is extended. Two extensions may fail before it expires. */
  private static final long EXTEND_MILLIS = LEASE.toMillis() * 2 / 3;

  private static final int NAMES_PER_PAGE = 1_000;

  private final AttemptContext context;
  private final Handlers handlers;
  private final Consumer<TimerRecord> observer;

  /** The leases whose attempts have not ended. */
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();

  /** The handlers that may have ready timers, and wait for a free slot. */
  private final Set<String> full = ConcurrentHashMap.newKeySet();

  /**
   * @param observer receives the records after their claims have ended
   */
  HandlerClaims(AttemptContext context, Handlers handlers, Consumer<TimerRecord> observer) {
    this.context = context;
    this.handlers = handlers;
    this.observer = observer;
  }

  /** Returns the source of a handler's timers, which no queue has. */
  static TimerKey source(String handler) {
    return new TimerKey(LeaseRequest.ALL_NAMESPACES, handler);
  }

  static boolean isSource(TimerKey source) {
    return source.namespace().equals(LeaseRequest.ALL_NAMESPACES);
  }

  boolean isEmpty() {
    return handlers.isEmpty();
  }

  boolean knows(String handler) {
    return handlers.knows(handler);
  }

  /** Returns whether a handler may have ready timers and waits for a slot, which is now free. */
  boolean wantsSlot(String handler) {
    return full.remove(handler);
  }

  /** Reads which handlers have ready timers; none if the read fails. */
  List<TimerKey> ready() {
    List<TimerKey> ready = new ArrayList<>();
    if (handlers.isEmpty()) {
      return ready;
    }
    try {
      List<String> names = List.of();
      do {
        String last = names.isEmpty() ? null : names.get(names.size() - 1);
        names = context.store().readyHandlers(last, NAMES_PER_PAGE);
        names.stream().filter(handlers::knows).map(HandlerClaims::source).forEach(ready::add);
      } while (names.size() == NAMES_PER_PAGE);
    } catch (RuntimeException | Error e) {
      context.health().reading.failed("a reading of ready timers", e); // the next sweep tries again
    }
    return ready;
  }

  /**
   * Reserves free slots of a handler.
   *
   * @return the demand; null if no slot is free
   */
  @Nullable Demand demand(String handler, int most) {
    full.add(handler); // first, because a slot may become free meanwhile
    int slots = handlers.reserve(handler, most);
    if (slots == 0) {
      return null;
    }
    full.remove(handler);
    return new HandlerDemand(handler, slots);
  }

  /** The demand of one handler, for its reserved slots. */
  private final class HandlerDemand implements Demand {
    private final String handler;
    private final int slots;
    private final long untilMillis = context.nowMillis() + LEASE.toMillis();

    HandlerDemand(String handler, int slots) {
      this.handler = handler;
      this.slots = slots;
    }

    @Override
    public int wanted() {
      return slots;
    }

    @Override
    public LeaseRequest request() {
      return new LeaseRequest(LeaseRequest.ALL_NAMESPACES, handler, slots, untilMillis);
    }

    @Override
    public void claimed(List<TimerRecord> records, long pausesBefore) {
      List<Lease> made = new ArrayList<>(records.size());
      for (TimerRecord record : records) {
        isolated(
            () -> made.add(new Lease(record, requireNonNull(record.claim()).token(), untilMillis)));
      }
      leases.addAll(made);
      for (Lease lease : made) {
        isolated(() -> handlers.leased(lease.record, lease, pausesBefore));
      }
      isolated(() -> handlers.release(handler, slots - made.size()));
    }

    /** Its exception affects no other timer and no other slots. */
    private void isolated(Runnable step) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        LOG.log(System.Logger.Level.ERROR, "after a claim for the handler " + handler, e);
      }
    }

    @Override
    public void unmet() {
      // A notification or a sweep announces further ready timers.
    }

    @Override
    public void failed(DurableTimerException failure, boolean isTransient) {
      context.health().reading.failed("a claim of ready timers", failure);
      isolated(() -> handlers.release(handler, slots));
    }
  }

  /** Extends the leases of attempts that have not ended. */
  void tick() {
    long nowMillis = context.nowMillis();
    for (Lease lease : leases) {
      lease.extend(nowMillis);
    }
  }

  /** The claim lease of one attempt. */
  private final class Lease implements ClaimHolder {
    final TimerRecord record;
    private final ClaimToken token;
    private volatile long untilMillis;

    /** True while an extension waits for the store. */
    private volatile boolean extending;

    Lease(TimerRecord record, ClaimToken token, long untilMillis) {
      this.record = record;
      this.token = token;
      this.untilMillis = untilMillis;
    }

    void extend(long nowMillis) {
      if (extending || untilMillis - nowMillis > EXTEND_MILLIS) {
        return;
      }
      extending = true;
      long newUntilMillis = nowMillis + LEASE.toMillis();
      context
          .committer()
          .submitOwn(
              new Change.Extend(record.key(), token, newUntilMillis, nowMillis),
              outcome -> extended(outcome, newUntilMillis));
    }

    private void extended(@Nullable Outcome outcome, long newUntilMillis) {
      if (outcome != null && outcome.answer() == Outcome.Answer.APPLIED) {
        untilMillis = newUntilMillis;
      } else if (outcome != null) {
        LOG.log(
            System.Logger.Level.DEBUG, "the claim lease of {0} has ended elsewhere", record.key());
        leases.remove(this);
      }
      extending = false;
    }

    @Override
    public boolean isClosed() {
      return context.nowMillis() >= untilMillis;
    }

    @Override
    public void answered(TimerKey key, @Nullable Outcome outcome) {
      leases.remove(this);
      if (outcome != null && outcome.record() != null) {
        observer.accept(outcome.record());
      }
    }
  }
}
