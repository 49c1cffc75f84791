// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.spi.StepExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * An executor without threads. Its tasks wait until a test runs them, in the order of submission or
 * in a random order. Its own monitor guards the tasks, because another thread may occasionally
 * submit one.
 */
public final class ManualExecutor implements StepExecutor {
  private final List<Runnable> tasks = new ArrayList<>();
  private final @Nullable Random random;
  private boolean dead;

  /** Creates an executor that runs its tasks in the order of submission. */
  public ManualExecutor() {
    this(null);
  }

  /**
   * Creates an executor that runs its tasks in a random order, or in the order of submission if the
   * source is null.
   */
  ManualExecutor(@Nullable Random random) {
    this.random = random;
  }

  @Override
  public synchronized void execute(Runnable task) {
    if (!dead) {
      tasks.add(task);
    }
  }

  @Override
  public boolean runOne() {
    Runnable task;
    synchronized (this) {
      if (tasks.isEmpty()) {
        return false;
      }
      task = tasks.remove(random == null ? 0 : random.nextInt(tasks.size()));
    }
    task.run();
    return true;
  }

  synchronized void die() {
    dead = true;
    tasks.clear();
  }
}
