// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.RequestAnswer;
import io.timewheel.durable.spi.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Represents a timer in a write batch: its record as it was read, and after the changes. */
final class BatchedTimer {
  final TimerKey key;

  /** The indexes of its changes in the batch. */
  final List<Integer> changes = new ArrayList<>(1);

  @Nullable TimerRecord before;
  @Nullable TimerRecord after;
  byte @Nullable [] payloadHash;

  /**
   * True if {@code before} is assumed, not read. Only a successful conditional write confirms it.
   */
  boolean assumed;

  /** True if the last lookup has found it in neither table. */
  boolean missing;

  /** True if its record differs from the one that was read or assumed. */
  boolean lost;

  /** True if another transaction holds it, so that it is left unchanged. */
  boolean held;

  /** The answers of requests among its changes, by request ID. */
  final Map<String, RequestAnswer> answers = new TreeMap<>();

  BatchedTimer(TimerKey key) {
    this.key = key;
  }

  @SuppressWarnings("ReferenceEquality") // an unchanged record is the same object
  boolean isChanged() {
    return after != before;
  }

  boolean wasUnfinished() {
    return before != null && !before.state().isFinished();
  }

  boolean wasReady() {
    return isReady(before);
  }

  boolean isReady() {
    return isReady(after);
  }

  private static boolean isReady(@Nullable TimerRecord record) {
    return record != null && record.state() == TimerState.READY;
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
