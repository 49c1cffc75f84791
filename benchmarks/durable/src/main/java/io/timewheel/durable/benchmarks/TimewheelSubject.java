// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import io.timewheel.durable.BatchResult;
import io.timewheel.durable.DurableStats;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;

/** Timewheel on any store, with its default settings. */
final class TimewheelSubject implements Subject {
  private static final String NAMESPACE = "shop";
  static final String HANDLER = "orders.cancel";

  private final DurableTimer scheduler;
  private final LongSupplier pendingCompactionBytes;

  TimewheelSubject(TimerStore store, LongSupplier pendingCompactionBytes, OnFire onFire) {
    this(
        DurableTimer.builder(store).handler(HANDLER, firing -> onFire.fired(firing.id())).start(),
        pendingCompactionBytes);
  }

  TimewheelSubject(DurableTimer scheduler, LongSupplier pendingCompactionBytes) {
    this.scheduler = scheduler;
    this.pendingCompactionBytes = pendingCompactionBytes;
  }

  DurableStats stats() {
    return scheduler.stats();
  }

  @Override
  public CompletionStage<?> scheduleAsync(Order order) {
    return scheduler.async().schedule(spec(order));
  }

  @Override
  public void recur(List<Order> orders, Duration every) {
    check(scheduler.scheduleAll(orders.stream().map(order -> spec(order).every(every)).toList()));
  }

  @Override
  public void schedule(List<Order> orders) {
    if (orders.size() == 1) {
      scheduler.schedule(spec(orders.get(0)));
    } else {
      check(scheduler.scheduleAll(orders.stream().map(this::spec).toList()));
    }
  }

  private TimerSpec spec(Order order) {
    return TimerSpec.of(NAMESPACE, order.id())
        .at(Instant.ofEpochMilli(order.dueMillis()))
        .handler(HANDLER)
        .payload(order.payloadBytes());
  }

  @Override
  public void cancel(List<String> ids) {
    check(scheduler.timers(ids.stream().map(id -> new TimerKey(NAMESPACE, id)).toList()).cancel());
  }

  private static void check(List<? extends BatchResult<?>> results) {
    for (BatchResult<?> result : results) {
      if (result.error() != null) {
        throw new IllegalStateException(result.key().toString(), result.error());
      }
    }
  }

  @Override
  public long pendingCompactionBytes() {
    return pendingCompactionBytes.getAsLong();
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
