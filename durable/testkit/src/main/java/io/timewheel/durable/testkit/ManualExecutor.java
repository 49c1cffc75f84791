// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.testkit;

import io.timewheel.durable.spi.StepExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * An executor without threads: its tasks wait until a test runs them, in the order in which they
 * came or in a random one. Guarded by itself, for the rare task that comes from another thread.
 */
public final class ManualExecutor implements StepExecutor {
  private final List<Runnable> tasks = new ArrayList<>();
  private final @Nullable Random random;
  private boolean dead;

  /** Makes an executor that runs its tasks in the order in which they came. */
  public ManualExecutor() {
    this(null);
  }

  /** Makes an executor that runs its tasks in a random order, if there is a source of it. */
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
