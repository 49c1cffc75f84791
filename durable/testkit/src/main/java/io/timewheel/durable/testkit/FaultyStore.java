// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.spi.Change;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.Outcome;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import java.util.List;
import java.util.function.Function;

/** A store on top of another that fails as a test says, in ways that real ones do. */
public final class FaultyStore extends ForwardingTimerStore {
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
    super(store);
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
    return new StoreException(kind, "a test wants it so", null);
  }
}
