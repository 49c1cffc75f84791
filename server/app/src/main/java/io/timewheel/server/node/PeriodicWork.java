// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.node;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work that an executor repeats. An executor ends work that throws, even an error that is over at
 * the next time. So this class catches and logs each failure, once until a success.
 */
public record PeriodicWork(String name, Runnable work, AtomicBoolean failing) implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicWork.class);

  public PeriodicWork(String name, Runnable work) {
    this(name, work, new AtomicBoolean());
  }

  @Override
  public void run() {
    try {
      work.run();
      failing.set(false);
    } catch (RuntimeException | Error e) {
      if (!failing.getAndSet(true)) {
        LOG.error("{} failed, and is repeated until it succeeds", name, e);
      }
    }
  }
}
