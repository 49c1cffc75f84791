// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.internal.commit.Committer;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A call for many timers. Each change gets its own answer, and the last answer completes the call.
 * All changes share one future, because a future for each would cost the committing thread as much
 * as the commit itself.
 */
final class BatchCall<T> {
  private final Committer committer;
  private final List<Slot<?>> slots = new ArrayList<>();
  private final CompletableFuture<List<BatchResult<T>>> future = new CompletableFuture<>();
  private @Nullable BatchResult<T>[] results;
  private final AtomicInteger left;

  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
  BatchCall(Committer committer, int size) {
    this.committer = committer;
    results = new BatchResult[size];
    left = new AtomicInteger(size);
  }

  /** Adds the next change. If it is invalid, its answer is the error. */
  <C extends Change> void add(
      int index, TimerKey key, Supplier<C> change, BiFunction<C, Outcome, T> result) {
    try {
      slots.add(new Slot<>(index, change.get(), result));
    } catch (DurableTimerException | IllegalArgumentException | IllegalStateException e) {
      answered(index, new BatchResult<>(key, null, e));
    }
  }

  CompletableFuture<List<BatchResult<T>>> submit() {
    if (results.length == 0) {
      future.complete(List.of());
    }
    committer.submitAll(slots);
    return future;
  }

  /** Answers an item that needs no change. */
  void answered(int index, BatchResult<T> result) {
    results[index] = result;
    if (left.decrementAndGet() == 0) {
      @Nullable BatchResult<T>[] all = results;
      future.complete(Arrays.asList(all));
    }
  }

  /** A change of the call, with the index of its answer. */
  private final class Slot<C extends Change> implements Committer.Call {
    private final int index;
    private final C change;
    private final BiFunction<C, Outcome, T> result;

    Slot(int index, C change, BiFunction<C, Outcome, T> result) {
      this.index = index;
      this.change = change;
      this.result = result;
    }

    @Override
    public Change change() {
      return change;
    }

    @Override
    public void answer(Outcome outcome) {
      try {
        T value = result.apply(change, outcome);
        answered(index, new BatchResult<>(change.key(), value, null));
      } catch (RuntimeException e) {
        fail(e);
      } catch (Error e) {
        fail(new CompletionException(e));
      }
    }

    @Override
    public void fail(RuntimeException failure) {
      answered(index, new BatchResult<>(change.key(), null, failure));
    }
  }
}
