// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.ClaimToken;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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
public final class HandlerClaims {
  private static final System.Logger LOG = GuardedLog.LOG;

  /**
   * The duration of a claim lease, the same as that of a node lease. After a crash of the node, the
   * timer waits this long.
   */
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** A claim lease with less time left is extended. Two extensions may fail before it expires. */
  private static final long EXTEND_MILLIS = LEASE.toMillis() * 2 / 3;

  /** The largest number of timers in one claim. */
  private static final int MAX_CLAIMED = 256;

  private static final int NAMES_PER_PAGE = 1_000;

  private final AttemptContext context;
  private final StoreTasks tasks;
  private final ReadyClaims claims;
  private final Handlers handlers;

  /** The leases whose attempts have not ended. */
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();

  /** The handlers that may have ready timers, and wait for a free slot. */
  private final Set<String> full = ConcurrentHashMap.newKeySet();

  /** True while a task asks the store which handlers have ready timers. */
  private final AtomicBoolean sweeping = new AtomicBoolean();

  public HandlerClaims(
      AttemptContext context, StoreTasks tasks, ReadyClaims claims, Handlers handlers) {
    this.context = context;
    this.tasks = tasks;
    this.claims = claims;
    this.handlers = handlers;
  }

  /** Returns whether a queue stands for a handler in all namespaces. */
  static boolean isQueue(TimerKey queue) {
    return queue.namespace().equals(LeaseRequest.ALL_NAMESPACES);
  }

  /** Records that a slot of a handler is free again. */
  public void freed(String handler) {
    if (full.remove(handler)) {
      ready(handler);
    }
  }

  /** Finds ready timers whose notification was lost. */
  public void sweep() {
    if (!handlers.isEmpty() && !sweeping.getAndSet(true) && !tasks.claim(this::findReady)) {
      sweeping.set(false); // closed
    }
  }

  private void findReady() {
    try {
      List<String> names = List.of();
      do {
        String last = names.isEmpty() ? null : names.get(names.size() - 1);
        names = context.store().readyHandlers(last, NAMES_PER_PAGE);
        names.forEach(this::ready);
      } while (names.size() == NAMES_PER_PAGE);
    } catch (RuntimeException | Error e) {
      failed(e); // the next sweep tries again
    } finally {
      sweeping.set(false);
    }
  }

  private void failed(Throwable cause) {
    if (!tasks.isClosed()) {
      context.health().reading.failed("a claim of ready timers", cause);
    }
  }

  /** Claims ready timers of a handler, one for each free slot. */
  public void ready(String handler) {
    if (handlers.knows(handler)) {
      isolated(handler, () -> claim(handler));
    }
  }

  private void claim(String handler) {
    full.add(handler); // first, because a slot may become free meanwhile
    int slots = handlers.reserve(handler, MAX_CLAIMED);
    if (slots > 0) {
      full.remove(handler);
      var unused =
          claims
              .claim(LeaseRequest.ALL_NAMESPACES, handler, slots, LEASE, Duration.ZERO)
              .whenComplete((claimed, failure) -> claimed(handler, slots, claimed, failure));
    }
  }

  private void claimed(
      String handler,
      int slots,
      @Nullable List<ClaimedTimer> claimed,
      @Nullable Throwable failure) {
    if (failure != null) {
      failed(failure);
    }
    List<ClaimedTimer> timers = claimed == null ? List.of() : claimed;
    for (ClaimedTimer timer : timers) {
      Lease lease = new Lease(timer);
      leases.add(lease);
      isolated(handler, () -> handlers.leased(timer.record(), lease, timer.pausesBefore()));
    }
    isolated(handler, () -> handlers.release(handler, slots - timers.size()));
    if (timers.size() == slots || full.remove(handler)) { // there may be more
      ready(handler);
    }
  }

  /** Runs a step for one handler. Its exception affects no other timer and no other slots. */
  private static void isolated(String handler, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "after a claim for the handler " + handler, e);
    }
  }

  /** Extends the leases of attempts that have not ended. */
  public void tick() {
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

    Lease(ClaimedTimer timer) {
      record = timer.record();
      token = timer.claim().token();
      untilMillis = timer.claim().until();
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
    }
  }
}
