// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.Handlers;
import io.timewheel.durable.internal.commit.StoreTasks;
import io.timewheel.durable.internal.due.ClaimHolder;
import io.timewheel.durable.internal.health.GuardedLog;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.Claim;
import io.timewheel.durable.spi.ClaimToken;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Leases timers of this node's handlers from shards whose owners do not have these handlers.
 *
 * <p>Such an owner makes a due timer ready, and the store notifies the other nodes. A node with the
 * handler leases one ready timer for each free slot of the handler. It runs them like attempts of
 * its own shards. It extends the claim leases until the outcomes of the attempts are recorded. If
 * the node crashes, the leases expire, and the owners of the shards record the attempts as lost.
 *
 * <p>One task leases for all handlers that may have ready timers, in bounded steps. It submits
 * itself again while there are more timers to lease and free slots for them. A sweep finds ready
 * timers whose notification was lost.
 */
public final class HandlerLeases {
  private static final System.Logger LOG = GuardedLog.LOG;

  /**
   * The duration of a claim lease, the same as that of a node lease. After a crash of the node, the
   * timer waits this long.
   */
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** A claim lease with less time left is extended. Two extensions may fail before it expires. */
  private static final long EXTEND_MILLIS = LEASE.toMillis() * 2 / 3;

  /** The largest number of timers that one step leases. */
  private static final int MAX_LEASED = 256;

  private static final int NAMES_PER_PAGE = 1_000;

  private final AttemptContext context;
  private final StoreTasks tasks;
  private final Handlers handlers;
  private final Consumer<TimerRecord> observer;
  private final ClaimTokens tokens = new ClaimTokens();

  /** The leases whose attempts have not ended. */
  private final Set<Lease> leases = ConcurrentHashMap.newKeySet();

  /** The handlers that may have ready timers; those that were checked longest ago come first. */
  private final LinkedHashSet<String> pending = new LinkedHashSet<>();

  /** True if the next step asks the store which handlers have ready timers. */
  private boolean sweepPending;

  /** True if a step is queued or running. */
  private boolean scheduled;

  /** True if timers or slots became ready during the present step, which may not have seen them. */
  private boolean changed;

  private boolean closed;

  /**
   * @param observer receives the records after their claims have ended
   */
  public HandlerLeases(
      AttemptContext context, StoreTasks tasks, Handlers handlers, Consumer<TimerRecord> observer) {
    this.context = context;
    this.tasks = tasks;
    this.handlers = handlers;
    this.observer = observer;
  }

  /** Records that a timer of a handler is ready. */
  public void ready(String handler) {
    if (!handlers.knows(handler)) {
      return;
    }
    synchronized (this) {
      pending.add(handler);
    }
    schedule();
  }

  /** Records that a slot of a handler is free again. */
  public void freed(String handler) {
    synchronized (this) {
      if (!pending.contains(handler)) {
        return;
      }
    }
    schedule();
  }

  /** Finds ready timers whose notification was lost. */
  public void sweep() {
    if (handlers.isEmpty()) {
      return;
    }
    synchronized (this) {
      sweepPending = true;
    }
    schedule();
  }

  private void schedule() {
    synchronized (this) {
      changed = true;
      if (closed || scheduled || (pending.isEmpty() && !sweepPending)) {
        return;
      }
      scheduled = true;
    }
    if (!tasks.claim(this::step)) {
      synchronized (this) {
        scheduled = false; // closed
      }
    }
  }

  private void step() {
    boolean more = false;
    synchronized (this) {
      changed = false;
    }
    try {
      findReady();
      Map<String, Integer> wanted = reserve();
      if (!wanted.isEmpty()) {
        more = lease(wanted);
      }
    } catch (RuntimeException | Error e) {
      if (!tasks.isClosed()) {
        context.health().reading.failed("a lease of ready timers", e); // the next sweep tries again
      }
    } finally {
      synchronized (this) {
        scheduled = false;
        more |= changed;
      }
    }
    if (more) {
      schedule();
    }
  }

  private void findReady() {
    synchronized (this) {
      if (!sweepPending) {
        return;
      }
      sweepPending = false;
    }
    List<String> names = List.of();
    do {
      String last = names.isEmpty() ? null : names.get(names.size() - 1);
      names = context.store().readyHandlers(last, NAMES_PER_PAGE);
      List<String> known = names.stream().filter(handlers::knows).toList();
      synchronized (this) {
        pending.addAll(known);
      }
    } while (names.size() == NAMES_PER_PAGE);
  }

  /** Reserves free slots of pending handlers; the others stay pending until a slot is free. */
  private Map<String, Integer> reserve() {
    List<String> names;
    synchronized (this) {
      names = List.copyOf(pending);
    }
    Map<String, Integer> wanted = new LinkedHashMap<>();
    int left = MAX_LEASED;
    for (String name : names) {
      int slots = left == 0 ? 0 : handlers.reserve(name, left);
      if (slots > 0) {
        wanted.put(name, slots);
        left -= slots;
      }
    }
    return wanted;
  }

  /**
   * Leases ready timers into reserved slots.
   *
   * @return whether a handler may have more ready timers
   */
  private boolean lease(Map<String, Integer> wanted) {
    synchronized (this) {
      pending.removeAll(wanted.keySet()); // later notifications make them pending again
    }
    long nowMillis = context.nowMillis();
    long untilMillis = nowMillis + LEASE.toMillis();
    long pausesBefore = context.pauseGate().pauses();
    List<Lease> made = new ArrayList<>();
    try {
      List<TimerRecord> records =
          context.store().leaseForHandlers(wanted, untilMillis, nowMillis, tokens::next);
      records.forEach(record -> made.add(new Lease(record, untilMillis)));
    } catch (RuntimeException | Error e) {
      release(wanted);
      throw e;
    }
    leases.addAll(made);
    Map<String, Integer> unused = new HashMap<>(wanted);
    made.forEach(lease -> unused.merge(lease.handler(), -1, Integer::sum));
    boolean more = false;
    synchronized (this) {
      for (Map.Entry<String, Integer> slots : unused.entrySet()) {
        if (slots.getValue() == 0) {
          pending.add(slots.getKey());
          more = true;
        }
      }
    }
    for (Lease lease : made) {
      isolated(lease.handler(), () -> handlers.leased(lease.record, lease, pausesBefore));
    }
    release(unused);
    return more;
  }

  /** Releases reserved slots for which nothing was leased. */
  private void release(Map<String, Integer> unused) {
    unused.forEach((handler, slots) -> isolated(handler, () -> handlers.release(handler, slots)));
  }

  /** Runs a step for one handler. Its exception affects no other lease and no other slots. */
  private static void isolated(String handler, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.log(System.Logger.Level.ERROR, "after a lease for the handler " + handler, e);
    }
  }

  /** Extends the leases of attempts that have not ended. */
  public void tick() {
    long nowMillis = context.nowMillis();
    for (Lease lease : leases) {
      lease.extend(nowMillis);
    }
  }

  /** Stops leasing. Open leases are extended until their attempts end. */
  public synchronized void close() {
    closed = true;
  }

  /** The claim lease of one attempt. */
  private final class Lease implements ClaimHolder {
    final TimerRecord record;
    private final ClaimToken token;
    private volatile long untilMillis;

    /** True while an extension waits for the store. */
    private volatile boolean extending;

    Lease(TimerRecord record, long untilMillis) {
      this.record = record;
      this.untilMillis = untilMillis;
      Claim claim = record.claim();
      if (claim == null) {
        throw new IllegalArgumentException("no claim: " + record.key());
      }
      token = claim.token();
    }

    String handler() {
      return record.definition().handler();
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
