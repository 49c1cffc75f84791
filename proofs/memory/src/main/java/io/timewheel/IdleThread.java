// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/** A thread that never runs, for a timer that is to assume that its thread has begun. */
final class IdleThread extends Thread {
  private static final VarHandle RUNNER_OF_WORKER = Rig.field(Worker.class, "runner", Thread.class);

  private final Worker worker;
  private final AtomicInteger starts;

  IdleThread(Runnable worker, AtomicInteger starts) {
    this.worker = (Worker) worker;
    this.starts = starts;
  }

  @Override
  public synchronized void start() {
    starts.incrementAndGet();
    RUNNER_OF_WORKER.setVolatile(worker, this);
  }
}
