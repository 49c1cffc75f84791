// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.write;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.internal.server.Records;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.batch.Cell;
import io.timewheel.durable.spi.record.TimerRecord;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Represents a timer in a write batch: its record as it was read, and after the changes. */
final class BatchedTimer extends Cell {
  /** The indexes of its changes in the batch. */
  final List<Integer> changes = new ArrayList<>(1);

  byte @Nullable [] payloadHash;

  /**
   * True if the stored record is assumed, not read. Only a successful conditional write confirms
   * it.
   */
  boolean assumed;

  /** True if the last lookup has found it in neither table. */
  boolean missing;

  /** True if its record differs from the one that was read or assumed. */
  boolean lost;

  /** True if another transaction holds it, so that it is left unchanged. */
  boolean held;

  BatchedTimer(TimerKey key) {
    super(key);
  }

  void found(@Nullable TimerRecord record, byte @Nullable [] hash) {
    found(record);
    payloadHash = hash;
    assumed = false;
    lost = false;
  }

  boolean wasUnfinished() {
    TimerRecord record = before();
    return record != null && !record.state().isFinished();
  }

  boolean wasReady() {
    return isReady(before());
  }

  boolean isReady() {
    return isReady(after());
  }

  private static boolean isReady(@Nullable TimerRecord record) {
    return record != null && record.state() == TimerState.READY;
  }

  TimerRecord present() {
    return requireNonNull(before());
  }

  TimerRecord next() {
    return requireNonNull(after());
  }

  Records.Step step() {
    return new Records.Step(present(), next());
  }
}
