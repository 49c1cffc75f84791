// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A page of the queues of a namespace, in the order of their names.
 *
 * @param queues those that have unfinished timers or waiting claims, or are paused
 * @param nextPageToken the token of the next page; absent on the last page
 */
public record QueuesAnswer(List<Queue> queues, @Nullable String nextPageToken) {
  /**
   * The state of a queue.
   *
   * @param name the name of the queue
   * @param ready the number of due timers that no consumer has claimed
   * @param oldestReadyAt when the longest ready timer became ready; absent if none is ready
   * @param running the number of timers that consumers have claimed
   * @param waitingClaims the number of claims that wait at the node that answers
   * @param paused whether the queue or its namespace is paused, so that claims return nothing
   */
  public record Queue(
      String name,
      long ready,
      @Nullable Instant oldestReadyAt,
      long running,
      int waitingClaims,
      boolean paused) {}
}
