// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.time.Duration;

/** Forces the log to disk at an interval, on a thread of its own. The thread ends at the close. */
public final class Flusher implements AutoCloseable {
  private static final System.Logger LOG = Failures.LOG;

  private final Runnable flush;
  private final long intervalMillis;
  private final Thread thread = new Thread(this::run, "timewheel-rocksdb-flusher");
  private boolean closed;

  public Flusher(Duration interval, Runnable flush) {
    this.flush = flush;
    intervalMillis = interval.toMillis();
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    boolean failing = false;
    while (awaitNext()) {
      try {
        flush.run();
        if (failing) {
          LOG.log(System.Logger.Level.INFO, "the log is forced to disk again");
        }
        failing = false;
      } catch (RuntimeException | Error e) { // the next sync may succeed
        if (!failing) {
          LOG.log(System.Logger.Level.ERROR, "the log could not be forced to disk; tried again", e);
        }
        failing = true;
      }
    }
  }

  /** Waits for the next sync; returns false after the close. */
  private synchronized boolean awaitNext() {
    long end = System.nanoTime() + intervalMillis * 1_000_000;
    try {
      for (long left = 1; !closed && left > 0; left = end - System.nanoTime()) {
        wait(Math.max(1, (end - System.nanoTime()) / 1_000_000));
      }
      return !closed;
    } catch (InterruptedException e) {
      return false;
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
