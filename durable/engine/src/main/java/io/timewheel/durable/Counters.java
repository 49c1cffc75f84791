// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import java.util.concurrent.atomic.LongAdder;

/** What the engine counts. */
final class Counters {
  final LongAdder fired = new LongAdder();
  final LongAdder succeeded = new LongAdder();
  final LongAdder failed = new LongAdder();
  final LongAdder exhausted = new LongAdder();
  final LongAdder blocked = new LongAdder();
  final LongAdder lost = new LongAdder();
  final LongAdder skipped = new LongAdder();
  final LongAdder staleOwner = new LongAdder();
  final LongAdder unknownOutcomes = new LongAdder();
  final LongAdder failedCommits = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder clockJumps = new LongAdder();
  final LagHistogram.Recorder lag = new LagHistogram.Recorder();
}
