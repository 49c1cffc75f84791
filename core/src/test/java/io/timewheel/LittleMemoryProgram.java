// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * The program that {@link LittleMemoryTest} runs in a small heap. While the heap is full, the
 * program allocates nothing.
 */
public final class LittleMemoryProgram {
  /** A strong reference, because the logging API holds loggers weakly. */
  private static final Logger CORE_LOGGER = Logger.getLogger("io.timewheel");

  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final AtomicInteger CANCELS = new AtomicInteger();

  private static final TimerTask TASK =
      new TimerTask() {
        @Override
        public void run(Timeout timeout) {
          RUNS.incrementAndGet();
        }

        @Override
        public void cancelled(Timeout timeout) {
          CANCELS.incrementAndGet();
        }
      };

  private LittleMemoryProgram() {}

  public static void main(String[] arguments) {
    CORE_LOGGER.setLevel(Level.OFF);
    if (arguments[0].equals("expire")) {
      expire();
    } else {
      stop();
    }
  }

  /**
   * Starts timeouts that are due one after the other, each in a new place of the lowest level. They
   * last a minute, so the memory is full before there is a slot in every place.
   */
  private static void expire() {
    NapCounter naps = new NapCounter();
    Thread[] worker = new Thread[1];
    HierarchicalWheelTimer timer =
        HierarchicalWheelTimer.builder()
            .stripes(1)
            .timeSource(naps)
            .threadFactory(runnable -> worker[0] = new Thread(runnable))
            .build();
    for (int i = 0; i < 10_000; i++) {
      timer.newTimeout(TASK, 257L * i, TimeUnit.MILLISECONDS);
    }

    Ballast ballast = new Ballast();
    ballast.fill();
    // Not Await, which would need memory.
    while (naps.count < 3 && worker[0].isAlive()) {
      LockSupport.parkNanos(1_000_000);
    }
    ballast.clear();
    System.out.println(naps.count < 3 ? "dead" : "out of memory");

    int runs = RUNS.get();
    while (RUNS.get() == runs && worker[0].isAlive()) {
      LockSupport.parkNanos(1_000_000);
    }
    timer.newTimeout(TASK, 0, TimeUnit.NANOSECONDS);
    System.out.println("runs again");
    timer.stop(Duration.ofDays(1));
  }

  private static void stop() {
    int count = 100_000;
    HashedWheelTimer timer = new HashedWheelTimer();
    for (int i = 0; i < count; i++) {
      timer.newTimeout(TASK, 1, TimeUnit.HOURS);
    }

    Ballast ballast = new Ballast();
    ballast.fill();
    Set<Timeout> returned = null;
    int failures = 0;
    while (returned == null) {
      try {
        returned = timer.stop();
      } catch (OutOfMemoryError e) {
        failures++;
        ballast.release();
      }
    }
    ballast.clear();

    System.out.println(failures > 0 ? "out of memory" : "enough memory");
    System.out.println("returned: " + (returned.size() == count ? "all" : returned.size()));
    System.out.println("called back: " + (CANCELS.get() == count ? "all" : CANCELS.get()));
  }

  /** Fills the memory with lists: of pieces of one size, and of small pieces for the rest. */
  private static final class Ballast {
    private static final int PIECE_BYTES = 256 * 1024;

    private Object[] pieces;
    private Object[] crumbs;

    void fill() {
      try {
        while (true) {
          Object[] piece = new Object[PIECE_BYTES / Integer.BYTES];
          piece[0] = pieces;
          pieces = piece;
        }
      } catch (OutOfMemoryError e) {
        // That was the last large piece.
      }
      try {
        while (true) {
          Object[] crumb = new Object[1];
          crumb[0] = crumbs;
          crumbs = crumb;
        }
      } catch (OutOfMemoryError e) {
        // Full.
      }
    }

    void release() {
      pieces = (Object[]) pieces[0];
    }

    void clear() {
      pieces = null;
      crumbs = null;
    }
  }

  /** The clock of the machine, which counts how often the timer thread waits for memory. */
  private static final class NapCounter implements TimeSource {
    volatile int count;

    /** Used by the timer thread only, except for the first reading. */
    private long lastNanos;

    private Thread worker;

    @Override
    public long nanoTime() {
      long nanos = System.nanoTime();
      if (Thread.currentThread() == worker) {
        lastNanos = nanos;
      }
      return nanos;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // only the timer thread parks
    public void parkUntil(long deadlineNanos, Object blocker) {
      worker = Thread.currentThread();
      if (deadlineNanos - lastNanos == Worker.NAP_NANOS) {
        count++;
      }
      TimeSource.super.parkUntil(deadlineNanos, blocker);
    }
  }
}
