// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.spi.LeaseRequest;
import io.timewheel.durable.spi.TimerRecord;
import java.util.List;

/** The ready timers that one step of {@link ReadyClaims} requests for a queue or a handler. */
interface Demand {
  /** The largest number of timers. */
  int wanted();

  LeaseRequest request();

  /**
   * Takes the claimed timers, which may be fewer than requested.
   *
   * @param pausesBefore the number of pauses before the claim was sent to the store
   */
  void claimed(List<TimerRecord> records, long pausesBefore);

  /** Reports that the store had no more ready timers. */
  void unmet();

  /**
   * Reports that the store claimed nothing.
   *
   * @param isTransient true if a later try may succeed
   */
  void failed(DurableTimerException failure, boolean isTransient);
}
