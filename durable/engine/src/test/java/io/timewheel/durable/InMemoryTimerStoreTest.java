// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import io.timewheel.durable.spi.StoreTraits;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.testkit.TimerStoreContract;
import java.time.Duration;

class InMemoryTimerStoreTest extends TimerStoreContract {
  @Override
  protected TimerStore create() {
    return InMemoryTimerStore.create(
        new StoreTraits(4, 2, 100, Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO));
  }

  @Override
  protected TimerStore reopen(TimerStore closed) {
    return ((InMemoryTimerStore) closed).reopen();
  }
}
