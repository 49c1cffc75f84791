// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Await;
import java.util.concurrent.CountDownLatch;

/**
 * A drain that waits in the middle, and so keeps a thread inside the lock of a stripe that is not
 * empty.
 */
final class HoldingDrain extends Drained {
  private static final int CAPACITY = 1_000;

  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch letGo;

  private HoldingDrain(CountDownLatch letGo) {
    super(CAPACITY);
    this.letGo = letGo;
  }

  /** Starts a thread that holds the lock of a stripe. Returns when the thread holds it. */
  static Thread hold(Stripe stripe, CountDownLatch letGo) {
    HoldingDrain drain = new HoldingDrain(letGo);
    Thread holder = new Thread(() -> stripe.drainTo(drain));
    holder.setDaemon(true);
    holder.start();
    Await.zero(drain.held);
    return holder;
  }

  @Override
  public void accept(Node node) {
    held.countDown();
    Await.zero(letGo);
    super.accept(node);
  }
}
