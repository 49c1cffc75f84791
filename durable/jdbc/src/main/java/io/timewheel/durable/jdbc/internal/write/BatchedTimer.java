// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A timer within a write batch: as it was read, and as the changes leave it. */
final class BatchedTimer {
  final TimerKey key;

  /** The places of its changes in the batch. */
  final List<Integer> changes = new ArrayList<>(1);

  @Nullable TimerRecord before;
  @Nullable TimerRecord after;
  byte @Nullable [] payloadHash;

  /** Whether nobody has looked at it: then only a write that holds says that it was so. */
  boolean assumed;

  /** Whether the last look has found it in neither table. */
  boolean missing;

  /** Whether it was not as it was read, or taken for. */
  boolean lost;

  /** Whether somebody else holds it, and it stays as it is. */
  boolean held;

  /** The answers of requests among its changes, by the IDs of the requests. */
  final Map<String, RequestAnswer> answers = new TreeMap<>();

  BatchedTimer(TimerKey key) {
    this.key = key;
  }

  @SuppressWarnings("ReferenceEquality") // what is left as it is is the same object
  boolean isChanged() {
    return after != before;
  }

  boolean wasUnfinished() {
    return before != null && !before.state().isFinished();
  }

  TimerRecord before() {
    return requireNonNull(before);
  }

  TimerRecord after() {
    return requireNonNull(after);
  }

  Records.Step step() {
    return new Records.Step(before(), after());
  }
}
