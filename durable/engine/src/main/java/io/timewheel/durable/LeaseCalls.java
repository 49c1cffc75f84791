// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.internal.attempt.AttemptContext;
import io.timewheel.durable.internal.attempt.AttemptEnd;
import io.timewheel.durable.internal.attempt.OpenClaim;
import io.timewheel.durable.internal.engine.Engine;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.Outcome;
import io.timewheel.durable.spi.record.TimerRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Ends and extends claim leases. An end reads its timer first, for the next run. */
final class LeaseCalls {
  private final Engine engine;
  private final AttemptContext attempts;
  private final TimerStore store;

  LeaseCalls(Engine engine, TimerStore store) {
    this.engine = engine;
    this.attempts = engine.attempts;
    this.store = store;
  }

  /** The timers of claim leases that have been read. */
  private interface Timers {
    @Nullable TimerRecord get(TimerKey key);
  }

  /**
   * A change of a claim lease.
   *
   * @param end the end of an attempt that it records, or null
   * @param ifNotFound the result if the store finds neither the timer nor a stored answer
   */
  private record Step(Change change, @Nullable AttemptEnd end, LeaseResult ifNotFound) {}

  CompletableFuture<LeaseResult> change(LeaseChange asked) {
    engine.committer.checkOpen();
    check(requireNonNull(asked, "change"));
    TimerRecord record = read(List.of(asked)).get(asked.fireId.key());
    Step step = step(asked, record);
    return step == null
        ? CompletableFuture.completedFuture(unclaimed(record))
        : engine.committer.submit(step.change()).thenApply(outcome -> result(step, outcome));
  }

  CompletableFuture<List<BatchResult<LeaseResult>>> changeAll(Collection<LeaseChange> changes) {
    List<LeaseChange> all = new ArrayList<>(changes);
    all.forEach(change -> requireNonNull(change, "change"));
    engine.committer.checkOpen();
    all.forEach(this::check);
    Timers timers = read(all);
    BatchCall<LeaseResult> call = new BatchCall<>(engine.committer, all.size());
    for (int i = 0; i < all.size(); i++) {
      add(call, i, all.get(i), timers);
    }
    return call.submit();
  }

  private void add(BatchCall<LeaseResult> call, int index, LeaseChange asked, Timers timers) {
    TimerKey key = asked.fireId.key();
    TimerRecord record;
    Step step;
    try {
      record = asked.kind == LeaseChange.Kind.EXTEND ? null : timers.get(key);
      step = step(asked, record);
    } catch (DurableTimerException e) {
      call.answered(index, new BatchResult<>(key, null, e));
      return;
    }
    if (step == null) {
      call.answered(index, new BatchResult<>(key, unclaimed(record), null));
    } else {
      call.add(index, key, step::change, (change, outcome) -> result(step, outcome));
    }
  }

  private void check(LeaseChange asked) {
    Duration after = asked.kind == LeaseChange.Kind.NACK ? asked.time : null;
    if (after != null && ahead(after) == EpochMillis.NEVER) {
      throw LeaseChange.notInReach(after);
    }
  }

  private long ahead(Duration time) {
    return EpochMillis.saturatedAdd(engine.clock.nowMillis(), EpochMillis.ceil(time));
  }

  // Reading

  private Timers read(List<LeaseChange> all) {
    Set<TimerKey> keys = new LinkedHashSet<>();
    for (LeaseChange asked : all) {
      if (asked.kind != LeaseChange.Kind.EXTEND) {
        keys.add(asked.fireId.key());
      }
    }
    Map<TimerKey, TimerRecord> found = new HashMap<>();
    List<TimerKey> left = new ArrayList<>(keys);
    int most = store.traits().maxBatch();
    try {
      for (int from = 0; from < left.size(); from += most) {
        found.putAll(store.read(left.subList(from, Math.min(left.size(), from + most))));
      }
      return found::get;
    } catch (StoreException e) {
      if (e.kind() != StoreException.Kind.REJECTED || keys.size() == 1) {
        throw Changes.failed(e);
      }
      return this::readAlone; // one of them is damaged; the others can be read alone
    }
  }

  private @Nullable TimerRecord readAlone(TimerKey key) {
    try {
      return store.read(List.of(key)).get(key);
    } catch (StoreException e) {
      throw Changes.failed(e);
    }
  }

  // Steps

  /** {@return the change; null if there is nothing to change and no answer can be stored} */
  private @Nullable Step step(LeaseChange asked, @Nullable TimerRecord record) {
    TimerKey key = asked.fireId.key();
    if (asked.kind == LeaseChange.Kind.EXTEND) {
      long until = ahead(requireNonNull(asked.time));
      return new Step(
          new Change.Extend(key, asked.token, until, asked.request, engine.clock.nowMillis()),
          null,
          LeaseResult.NOT_FOUND);
    }
    Claim claim = record == null ? null : record.claim();
    if (record != null && claim != null && claim.token().equals(asked.token)) {
      OpenClaim open = OpenClaim.ofConsumer(record, claim);
      AttemptEnd end =
          asked.kind == LeaseChange.Kind.ACK
              ? attempts.rule().succeeded(open)
              : attempts.rule().failed(open, asked.error, asked.time);
      return new Step(end.change().with(asked.request), end, LeaseResult.NOT_FOUND);
    }
    if (asked.kind == LeaseChange.Kind.ACK) {
      // The claim has ended. If this change ended it, the answer is the same as before.
      return new Step(
          new Change.Finish(
                  key,
                  asked.token,
                  OpenClaim.NO_EPOCH,
                  Change.Finish.End.SUCCEEDED,
                  TimerRecord.NEVER,
                  null,
                  engine.clock.nowMillis())
              .with(asked.request),
          null,
          LeaseResult.NOT_FOUND);
    }
    return asked.request == null
        ? null
        : new Step(
            new Change.Keep(key, asked.request, TimerRecord.NONE, engine.clock.nowMillis()),
            null,
            unclaimed(record));
  }

  private static LeaseResult unclaimed(@Nullable TimerRecord record) {
    return record == null ? LeaseResult.NOT_FOUND : LeaseResult.LOST;
  }

  private LeaseResult result(Step step, Outcome outcome) {
    if (outcome.answer() == Outcome.Answer.REQUEST_DIFFERS) {
      throw Changes.requestDiffers(step.change(), outcome);
    }
    if (step.end() != null) {
      attempts.ends().recorded(step.end(), outcome);
    }
    return switch (outcome.answer()) {
      case APPLIED -> LeaseResult.DONE;
      case NOT_FOUND -> step.ifNotFound();
      default -> LeaseResult.LOST;
    };
  }
}
