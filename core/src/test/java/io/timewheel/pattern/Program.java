// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.RejectedExecutionException;

/**
 * A random program of operations and advances of time, for a pattern and a naive model of it. The
 * model checks all its entries at every tick. The program compares the two after every operation
 * and every tick. At random, the executor runs its tasks, is busy for a while, or rejects tasks.
 */
abstract class Program {
  private enum Workers {
    LIVE,
    BUSY,
    REJECTING
  }

  final SplittableRandom random;
  final Rig rig = new Rig();

  /** The notifications of callbacks since the last comparison, and those that the model expects. */
  final List<String> notified = new ArrayList<>();

  final List<String> expected = new ArrayList<>();

  /** The number of errors that the handler should have received, without rejections. */
  int expectedErrors;

  private final Deque<Runnable> modelTasks = new ArrayDeque<>();
  private final List<Runnable> modelQueue = new ArrayList<>();
  private Workers workers = Workers.LIVE;
  private long rejectedMillis = Long.MIN_VALUE;

  Program(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Applies a random operation to the pattern and the model. */
  abstract void operate();

  /**
   * Advances the model by a tick. The timeouts have fired, and the tasks that they handed over have
   * not run.
   */
  abstract void tick();

  /** Verifies the conditions that hold between operations. */
  abstract void check();

  /** Removes all entries. */
  abstract void end();

  final void run(int steps) {
    for (int i = 0; i < steps; i++) {
      switch (random.nextInt(12)) {
        case 0 -> hire(pick(List.of(Workers.values())));
        case 1, 2, 3 -> live(random.nextLong(1, 30));
        default -> operate();
      }
      compare();
    }
    hire(Workers.LIVE);
    compare();
    end();
    compare();
    rig.assertNothingPending();
  }

  private void live(long millis) {
    for (long i = 0; i < millis; i++) {
      rig.advanceMillis(1);
      if (rejecting()) {
        rejectedMillis = rig.nowMillis();
      }
      tick();
      compare();
    }
  }

  private void hire(Workers next) {
    workers = next;
    rig.takes = !rejecting();
    rig.rejects = rejecting();
  }

  private void compare() {
    if (workers == Workers.LIVE) {
      rig.runTasks();
      for (Runnable task = modelTasks.poll(); task != null; task = modelTasks.poll()) {
        task.run();
      }
    }
    assertThat(notified).containsExactlyInAnyOrderElementsOf(expected);
    notified.clear();
    expected.clear();
    assertThat(rig.errors)
        .filteredOn(error -> !(error instanceof RejectedExecutionException))
        .hasSize(expectedErrors);
    check();
  }

  final <E> E pick(List<E> some) {
    return some.get(random.nextInt(some.size()));
  }

  final boolean rejecting() {
    return workers == Workers.REJECTING;
  }

  /** Returns whether the executor has rejected no task for this time, and runs its tasks. */
  final boolean livesSince(long millis) {
    return workers == Workers.LIVE && rejectedMillis + millis < rig.nowMillis();
  }

  /** Executes a task of the model, as the executor does. */
  final void execute(Runnable task, Runnable ifRejected) {
    if (rejecting()) {
      ifRejected.run();
    } else {
      modelTasks.add(task);
    }
  }

  /**
   * Hands off a notification of the model, as {@link HandOff} does: one task for all queued
   * elements, and all at once if it is rejected.
   */
  final void handOff(Runnable tell) {
    modelQueue.add(tell);
    if (modelQueue.size() == 1) {
      execute(this::drain, this::drain);
    }
  }

  private void drain() {
    List<Runnable> drained = new ArrayList<>(modelQueue);
    modelQueue.clear();
    drained.forEach(Runnable::run);
  }

  /** Records that a callback of the model throws. */
  final void throwsError() {
    expectedErrors++;
  }
}
