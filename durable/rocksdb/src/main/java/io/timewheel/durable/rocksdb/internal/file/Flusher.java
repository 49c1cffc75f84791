// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.rocksdb.internal.file;

import java.time.Duration;

/** The thread that forces the log to disk every so often. It ends when it is closed. */
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
    while (awaitNext()) {
      try {
        flush.run();
      } catch (RuntimeException | Error e) { // the next one may go well
        LOG.log(System.Logger.Level.ERROR, "what was written could not be forced to disk", e);
      }
    }
  }

  /** Returns false when it is closed. */
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
