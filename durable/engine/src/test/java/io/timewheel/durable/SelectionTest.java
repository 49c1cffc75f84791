// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.LeaseResult;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.TimerOrder;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests commands for all timers of a filter, and the blocking calls of queues and namespaces. */
class SelectionTest {
  private static final int TIMERS = 2_500; // three pages
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final DurableTestkit kit = DurableTestkit.create();
  private final DurableTimer scheduler = kit.start(InMemoryTimerStore.create(), builder -> {});

  @AfterEach
  void close() {
    kit.close(scheduler);
  }

  private TimerSelection orders() {
    return scheduler.timers(TimerFilter.unfinished().namespace("shop").prefix("order-"));
  }

  private void scheduleOrders() {
    List<TimerSpec> specs =
        IntStream.range(0, TIMERS)
            .mapToObj(i -> TimerSpec.of("shop", "order-" + i).after(MINUTE).queue("q"))
            .toList();
    scheduler.scheduleAll(specs).forEach(BatchResult::orThrow);
    scheduler.schedule(TimerSpec.of("shop", "other").after(MINUTE).queue("q"));
  }

  @Test
  void changesAllMatchingTimersOfAllPages() {
    scheduleOrders();
    assertThat(orders().pause()).isEqualTo(TIMERS);
    assertThat(orders().pause()).as("unchanged ones").isZero();
    assertThat(orders().resume()).isEqualTo(TIMERS);
    assertThat(orders().cancel()).isEqualTo(TIMERS);
    assertThat(scheduler.namespace("shop").counts())
        .containsEntry(TimerState.CANCELLED, (long) TIMERS)
        .containsEntry(TimerState.SCHEDULED, 1L);
  }

  /** The moved timers would be read again in the order of their times. */
  @Test
  void movesEachTimerOnceInAnyOrderOfTheFilter() {
    scheduleOrders();
    TimerFilter byTime =
        TimerFilter.unfinished().namespace("shop").prefix("order-").order(TimerOrder.DUE);
    assertThat(scheduler.timers(byTime).move(scheduler.now().plus(MINUTE.multipliedBy(2))))
        .isEqualTo(TIMERS);
  }

  @Test
  void claimsAndEndsTimersWithBlockingCalls() {
    scheduler.schedule(TimerSpec.of("shop", "a").after(Duration.ZERO).queue("q"));
    kit.settle();
    var queue = scheduler.queue("shop", "q");
    assertThat(queue.info().ready()).isOne();
    List<QueueFiring> claimed = queue.claim(10, MINUTE, Duration.ZERO);
    assertThat(claimed).hasSize(1);
    assertThat(queue.info().running()).isOne();
    assertThat(scheduler.allNamespaces().counts()).containsEntry(TimerState.RUNNING, 1L);
    assertThat(queue.extend(claimed.get(0), MINUTE)).isEqualTo(LeaseResult.DONE);
    assertThat(queue.ack(claimed.get(0))).isEqualTo(LeaseResult.DONE);
    assertThat(queue.nack(claimed.get(0), "late", null)).isEqualTo(LeaseResult.LOST);
  }

  @Test
  void anInterruptedClaimNoLongerWaits() {
    try (DurableTimer threads = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> threads.queue("shop", "q").claim(1, MINUTE, MINUTE))
          .isInstanceOf(DurableTimerException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(threads.queue("shop", "q").info().waitingClaims()).isZero();
    }
  }
}
