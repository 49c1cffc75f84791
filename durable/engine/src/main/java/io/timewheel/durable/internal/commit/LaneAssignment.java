// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.commit;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.Shards;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntPredicate;

/**
 * Assigns changes to lanes. All unanswered changes of a timer are in one lane, which commits them
 * in order, except changes that it repeats after a failure of the store (see {@link CommitLane}).
 *
 * <p>While few changes are unanswered, new ones go to the first lane, because one large batch costs
 * less than several small ones. If many are unanswered, the lane of a timer follows from its key,
 * and the lanes commit concurrently. A lane whose present commit takes long gets no new timers
 * while another one is faster.
 */
final class LaneAssignment {
  /** The number of unanswered changes up to which one lane commits them. */
  static final int FEW = 32;

  private static final int SLOTS = 1_024;

  private final int lanes;
  private final IntPredicate isSlow;

  /**
   * The slots of the keys. Each contains the number of its unanswered changes, times the number of
   * lanes, plus the lane of these changes.
   */
  private final AtomicIntegerArray slots = new AtomicIntegerArray(SLOTS);

  private final AtomicInteger unanswered = new AtomicInteger();

  /**
   * @param isSlow returns whether the present commit of a lane takes long
   */
  LaneAssignment(int lanes, IntPredicate isSlow) {
    this.lanes = lanes;
    this.isSlow = isSlow;
  }

  private static int slot(TimerKey key) {
    return (int) (Shards.hash(key) >>> 32) & (SLOTS - 1);
  }

  /** {@return the lane of a change} */
  int begin(TimerKey key) {
    if (lanes == 1) {
      return 0;
    }
    int slot = slot(key);
    boolean few = unanswered.incrementAndGet() <= FEW;
    int lane = fastLane(few ? 0 : slot % lanes);
    return slots.updateAndGet(slot, old -> (old < lanes ? lane : old) + lanes) % lanes;
  }

  /** Returns this lane, or the next one that is not slow. */
  private int fastLane(int preferred) {
    for (int i = 0; i < lanes; i++) {
      int lane = (preferred + i) % lanes;
      if (!isSlow.test(lane)) {
        return lane;
      }
    }
    return preferred;
  }

  /** Ends a change, which was answered or refused. */
  void end(TimerKey key) {
    if (lanes > 1) {
      slots.addAndGet(slot(key), -lanes);
      unanswered.decrementAndGet();
    }
  }
}
