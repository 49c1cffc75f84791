// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import io.timewheel.HashedWheelTimer;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The executors for the contract tests, all with four threads or more. The JDK's executor verifies
 * the tests themselves.
 */
enum Implementation {
  JDK {
    @Override
    ScheduledExecutorService create(boolean keepsPeriodic, boolean keepsDelayed) {
      ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(THREADS);
      executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(keepsPeriodic);
      executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(keepsDelayed);
      executor.setRemoveOnCancelPolicy(true);
      return executor;
    }
  },

  WHEEL_WITH_A_THREAD_EACH {
    @Override
    ScheduledExecutorService create(boolean keepsPeriodic, boolean keepsDelayed) {
      return WheelScheduledExecutor.builder()
          .ownExecutor(Executors.newCachedThreadPool())
          .continueExistingPeriodicTasksAfterShutdown(keepsPeriodic)
          .executeExistingDelayedTasksAfterShutdown(keepsDelayed)
          .build();
    }
  },

  HASHED_WHEEL_WITH_POOL {
    @Override
    ScheduledExecutorService create(boolean keepsPeriodic, boolean keepsDelayed) {
      return WheelScheduledExecutor.builder()
          .ownTimer(new HashedWheelTimer(1, TimeUnit.MILLISECONDS))
          .ownExecutor(Executors.newFixedThreadPool(THREADS))
          .continueExistingPeriodicTasksAfterShutdown(keepsPeriodic)
          .executeExistingDelayedTasksAfterShutdown(keepsDelayed)
          .build();
    }
  };

  static final int THREADS = 4;

  /** Returns an executor with the given policies. */
  abstract ScheduledExecutorService create(boolean keepsPeriodic, boolean keepsDelayed);

  /** Returns an executor with the default policies. */
  ScheduledExecutorService create() {
    return create(false, true);
  }
}
