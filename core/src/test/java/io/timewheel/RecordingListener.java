// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A listener that records its calls, and the threads on which they were made. */
class RecordingListener implements TimerListener {
  final Queue<String> events = new ConcurrentLinkedQueue<>();
  final Queue<Timeout> timeouts = new ConcurrentLinkedQueue<>();
  final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

  /** Called for every event; a subclass may throw here. */
  void record(Timeout timeout, String event) {
    events.add(event);
    timeouts.add(timeout);
    threads.add(Thread.currentThread());
  }

  @Override
  public void started(Timeout timeout) {
    record(timeout, "started");
  }

  @Override
  public void rescheduled(Timeout timeout) {
    record(timeout, "rescheduled");
  }

  @Override
  public void cancelled(Timeout timeout) {
    record(timeout, "cancelled");
  }

  @Override
  public void expired(Timeout timeout, long lagNanos) {
    record(timeout, "expired, lag " + lagNanos);
  }

  @Override
  public void rejected(Timeout timeout, Throwable cause) {
    record(timeout, "rejected, " + cause.getMessage());
  }

  @Override
  public void completed(Timeout timeout, long runNanos) {
    record(timeout, "completed, ran " + runNanos);
  }

  @Override
  public void failed(Timeout timeout, Throwable error, long runNanos) {
    record(timeout, "failed, " + error.getMessage() + ", ran " + runNanos);
  }
}
