// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.health;

import java.util.concurrent.atomic.LongAdder;

/** The counters of the engine. */
public final class Counters {
  public final LongAdder fired = new LongAdder();
  public final LongAdder succeeded = new LongAdder();
  public final LongAdder failed = new LongAdder();
  public final LongAdder exhausted = new LongAdder();
  public final LongAdder blocked = new LongAdder();
  public final LongAdder lost = new LongAdder();
  public final LongAdder skipped = new LongAdder();
  public final LongAdder staleOwner = new LongAdder();
  public final LongAdder unknownOutcomes = new LongAdder();
  public final LongAdder failedCommits = new LongAdder();
  public final LongAdder rejected = new LongAdder();
  public final LongAdder clockJumps = new LongAdder();
  public final LagRecorder lag = new LagRecorder();
}
