// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerKey;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UpkeepTest {
  @Test
  void doesNotReadThroughTheStoreForWhatIsNotThere() {
    DurableTestkit kit = DurableTestkit.create();
    AtomicInteger pages = new AtomicInteger();
    ForwardingTimerStore store =
        new ForwardingTimerStore(InMemoryTimerStore.create()) {
          @Override
          public TimerPage page(TimerQuery query, TimerKey after, int limit) {
            pages.incrementAndGet();
            return super.page(query, after, limit);
          }
        };
    DurableTimer timer = kit.start(store, builder -> builder.handler("h", firing -> {}));
    timer.schedule(TimerSpec.of("ns", "later").handler("h").after(Duration.ofHours(1)));

    kit.advanceBy(Duration.ofMinutes(10));

    assertThat(pages).hasValue(0);
  }
}
