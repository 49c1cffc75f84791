// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import static java.util.Objects.requireNonNull;

import io.timewheel.Timer;
import io.timewheel.durable.internal.commit.CallerWait;
import io.timewheel.durable.internal.time.EpochMillis;
import io.timewheel.durable.spi.TimerStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Closes a durable timer once, in order and in bounded time. */
public final class Closing {
  private final Engine engine;
  private final TimerStore store;
  private final @Nullable Timer ownedTimer;
  private final List<ExecutorService> ownedExecutors;
  private final CallerWait waiting;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);

  /**
   * @param ownedTimer the wheel, if the scheduler owns it
   * @param ownedExecutors the executors that the scheduler owns
   * @param waiting defines how a close waits for attempts
   */
  public Closing(
      Engine engine,
      TimerStore store,
      @Nullable Timer ownedTimer,
      List<ExecutorService> ownedExecutors,
      CallerWait waiting) {
    this.engine = engine;
    this.store = store;
    this.ownedTimer = ownedTimer;
    this.ownedExecutors = ownedExecutors;
    this.waiting = waiting;
  }

  public void close(Duration shutdownTimeout) {
    requireNonNull(shutdownTimeout, "shutdownTimeout");
    if (engine.handlers.isRunBy(Thread.currentThread())) {
      throw new IllegalStateException(
          "close() was called by a handler, whose end it would wait for (expected: another"
              + " thread)");
    }
    long timeoutMillis = Math.max(0, EpochMillis.ceil(shutdownTimeout));
    boolean interrupted = false;
    try {
      if (begun.getAndSet(true)) {
        boolean unused = ended.await(timeoutMillis, TimeUnit.MILLISECONDS);
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    try {
      engine.beginClosing();
      waiting.until(engine::isIdle, timeoutMillis);
    } catch (InterruptedException e) {
      interrupted = true;
    } finally {
      end();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void end() {
    List<Runnable> parts = new ArrayList<>();
    parts.add(engine::close);
    if (ownedTimer != null) {
      parts.add(ownedTimer::stop);
    }
    ownedExecutors.forEach(executor -> parts.add(executor::shutdown));
    parts.add(store::close);
    try {
      runAll(parts);
    } finally {
      ended.countDown();
    }
  }

  /** Ends each part, even if an earlier one throws. Throws the first failure at the end. */
  private static void runAll(List<Runnable> parts) {
    Throwable first = null;
    for (Runnable part : parts) {
      try {
        part.run();
      } catch (RuntimeException | Error e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first instanceof Error error) {
      throw error;
    } else if (first != null) {
      throw (RuntimeException) first;
    }
  }
}
