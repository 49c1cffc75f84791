// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import io.timewheel.durable.jdbc.internal.server.RequestRows;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.batch.StateCounts;
import io.timewheel.durable.spi.record.Change;
import io.timewheel.durable.spi.record.Facts;
import io.timewheel.durable.spi.record.RequestAnswer;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Contains the facts that one try of a write batch has read. */
final class BatchFacts implements Facts {
  private final Fence fence;
  private final Map<RequestRows.Key, RequestAnswer> earlier;
  private final StateCounts pending;
  private final Set<String> paused;
  private long lastVersion;

  /**
   * @param firstVersion the first version of a block for this batch
   * @param earlier the answers of requests that were committed earlier
   * @param pending the counters of other transactions, if a limit needs them
   * @param paused the paused scopes, if the batch claims timers
   */
  BatchFacts(
      Fence fence,
      long firstVersion,
      Map<RequestRows.Key, RequestAnswer> earlier,
      StateCounts pending,
      Set<String> paused) {
    this.fence = fence;
    this.earlier = earlier;
    this.pending = pending;
    this.paused = paused;
    lastVersion = firstVersion - 1;
  }

  @Override
  public @Nullable RequestAnswer answer(TimerKey key, String id) {
    return earlier.get(new RequestRows.Key(key, id));
  }

  @Override
  public long nextVersion(long above) {
    lastVersion = Math.max(lastVersion, above) + 1;
    return lastVersion;
  }

  @Override
  public long pending(String namespace) {
    return pending.unfinished(namespace);
  }

  @Override
  public boolean paused(String namespace) {
    return TimerStore.isPaused(paused, namespace);
  }

  @Override
  public boolean isStale(Change change) {
    return fence.isStale(change);
  }
}
