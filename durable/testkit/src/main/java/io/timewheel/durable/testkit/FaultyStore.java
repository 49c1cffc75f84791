// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Outcome;
import java.util.List;
import java.util.function.Function;

/** A wrapper of another store that injects the faults of real stores when a test requests them. */
public final class FaultyStore extends ForwardingTimerStore {
  private volatile Function<List<Change>, Fault> faults = changes -> Fault.NONE;

  /** The faults of a commit. */
  public enum Fault {
    /** The commit succeeds. */
    NONE,
    /** Nothing is committed. The same commit may succeed later. */
    TRANSIENT,
    /** Nothing is committed, and the store is unavailable. */
    UNAVAILABLE,
    /** The store rejects the content of the commit. */
    REJECTED,
    /** The changes are committed, but the answer is lost. */
    DONE_BUT_FAILED,
    /** The changes are not committed, and the answer is lost. */
    LOST
  }

  /**
   * Creates a store without faults.
   *
   * @param store the store below
   */
  public FaultyStore(TimerStore store) {
    super(store);
  }

  /**
   * Sets the faults of further commits.
   *
   * @param plan called before each commit; returns its fault
   */
  public void faults(Function<List<Change>, Fault> plan) {
    faults = requireNonNull(plan, "plan");
  }

  @Override
  public List<Outcome> commit(List<Change> changes) {
    Fault fault = faults.apply(changes);
    return switch (fault) {
      case NONE -> super.commit(changes);
      case TRANSIENT -> throw failure(StoreException.Kind.TRANSIENT);
      case UNAVAILABLE -> throw failure(StoreException.Kind.UNAVAILABLE);
      case REJECTED -> throw failure(StoreException.Kind.REJECTED);
      case LOST -> throw failure(StoreException.Kind.UNKNOWN);
      case DONE_BUT_FAILED -> {
        super.commit(changes);
        throw failure(StoreException.Kind.UNKNOWN);
      }
    };
  }

  private static StoreException failure(StoreException.Kind kind) {
    return new StoreException(kind, "injected by the test", null);
  }
}
