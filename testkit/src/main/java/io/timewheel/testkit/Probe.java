// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import io.timewheel.Timeout;
import io.timewheel.TimerTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A task that records its calls, and also runs a given action. */
final class Probe implements TimerTask {
  private final TimerTask body;
  private final AtomicInteger runs = new AtomicInteger();
  private final AtomicInteger cancellations = new AtomicInteger();
  private volatile @Nullable Thread runner;
  private volatile @Nullable Thread canceller;
  private volatile @Nullable Timeout given;

  Probe() {
    this(timeout -> {});
  }

  Probe(TimerTask body) {
    this.body = body;
  }

  @Override
  public void run(Timeout timeout) throws Exception {
    runner = Thread.currentThread();
    given = timeout;
    runs.incrementAndGet();
    body.run(timeout);
  }

  @Override
  public void cancelled(Timeout timeout) {
    canceller = Thread.currentThread();
    given = timeout;
    cancellations.incrementAndGet();
    body.cancelled(timeout);
  }

  int runs() {
    return runs.get();
  }

  int cancellations() {
    return cancellations.get();
  }

  /** Returns the thread that ran this task last. */
  @Nullable Thread runner() {
    return runner;
  }

  /** Returns the thread that last notified this task of its cancellation. */
  @Nullable Thread canceller() {
    return canceller;
  }

  /** Returns the timeout that was last passed to this task. */
  @Nullable Timeout given() {
    return given;
  }
}
