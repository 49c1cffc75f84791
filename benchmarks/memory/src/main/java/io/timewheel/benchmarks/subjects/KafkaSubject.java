// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.subjects;

import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.TimerTask;

/**
 * Kafka's timer with its own reaper, which advances it. A task is also the handle, and can be used
 * once, so its users make one for each timeout too.
 */
final class KafkaSubject implements Subject {
  private final SystemTimerReaper timer =
      new SystemTimerReaper("measured-reaper", new SystemTimer("measured"));

  @Override
  public Object task(Runnable body) {
    return body;
  }

  @Override
  public Object start(Object task, long delayNanos) {
    Task timeout = new Task((Runnable) task, Settings.wholeMillis(delayNanos));
    timer.add(timeout);
    return timeout;
  }

  @Override
  public boolean cancel(Object handle) {
    ((Task) handle).cancel();
    return true;
  }

  @Override
  public void close() {
    try {
      timer.close();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class Task extends TimerTask {
    private final Runnable body;

    Task(Runnable body, long delayMillis) {
      super(delayMillis);
      this.body = body;
    }

    @Override
    public void run() {
      body.run();
    }
  }
}
