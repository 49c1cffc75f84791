// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerState;
import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.DuePosition;
import io.timewheel.durable.spi.DueTimer;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerRecord;
import io.timewheel.durable.spi.TimerStore;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A store on top of another that fails as a test says, in ways that real ones do. */
public final class FaultyStore implements TimerStore {
  private final TimerStore store;
  private volatile Function<List<Change>, Fault> faults = changes -> Fault.NONE;

  /** What happens to a commit. */
  public enum Fault {
    /** It goes well. */
    NONE,
    /** Nothing is done, and the same may go well later. */
    TRANSIENT,
    /** Nothing is done, and the store cannot be used. */
    UNAVAILABLE,
    /** It is refused for what is asked. */
    REJECTED,
    /** It is done, and the answer is lost. */
    DONE_BUT_FAILED,
    /** It is not done, and nobody knows. */
    LOST
  }

  /**
   * Makes a store that does not fail yet.
   *
   * @param store the store below
   */
  public FaultyStore(TimerStore store) {
    this.store = requireNonNull(store, "store");
  }

  /**
   * Sets what happens to commits from now on.
   *
   * @param plan is asked before each
   */
  public void faults(Function<List<Change>, Fault> plan) {
    faults = requireNonNull(plan, "plan");
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    Fault fault = faults.apply(changes);
    return switch (fault) {
      case NONE -> store.commit(changes);
      case TRANSIENT -> throw failure(StoreException.Kind.TRANSIENT);
      case UNAVAILABLE -> throw failure(StoreException.Kind.UNAVAILABLE);
      case REJECTED -> throw failure(StoreException.Kind.REJECTED);
      case LOST -> throw failure(StoreException.Kind.UNKNOWN);
      case DONE_BUT_FAILED -> {
        store.commit(changes);
        throw failure(StoreException.Kind.UNKNOWN);
      }
    };
  }

  private static StoreException failure(StoreException.Kind kind) {
    return new StoreException(kind, "a test wants it so", null);
  }

  @Override
  public StoreTraits traits() {
    return store.traits();
  }

  @Override
  public void start(StoreListener listener) {
    store.start(listener);
  }

  @Override
  public List<DueTimer> due(int shard, long until, @Nullable DuePosition after, int limit) {
    return store.due(shard, until, after, limit);
  }

  @Override
  public @Nullable TimerRecord get(TimerKey key) {
    return store.get(key);
  }

  @Override
  public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
    return store.page(query, after, limit);
  }

  @Override
  public long[] histogram(@Nullable String namespace, long[] bounds) {
    return store.histogram(namespace, bounds);
  }

  @Override
  public Map<String, Map<TimerState, Long>> counts() {
    return store.counts();
  }

  @Override
  public List<TimerRecord> lease(LeaseRequest request) {
    return store.lease(request);
  }

  @Override
  public void pause(String scope) {
    store.pause(scope);
  }

  @Override
  public void resume(String scope) {
    store.resume(scope);
  }

  @Override
  public Set<String> paused() {
    return store.paused();
  }

  @Override
  public int forget(long finishedBefore, long keep, int limit) {
    return store.forget(finishedBefore, keep, limit);
  }

  @Override
  public long clockOffsetMillis() {
    return store.clockOffsetMillis();
  }

  @Override
  public void close() {
    store.close();
  }
}
