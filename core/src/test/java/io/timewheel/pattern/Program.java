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
 * A random program of operations and of time that passes, on a pattern and on a naive model of it,
 * which looks at everything at every tick. After every operation and every tick the two are
 * compared. Meanwhile the executor lives, is busy for a while, or rejects.
 */
abstract class Program {
  private enum Workers {
    LIVE,
    BUSY,
    REJECTING
  }

  final SplittableRandom random;
  final Rig rig = new Rig();

  /** What callbacks were given since the last comparison, and what the model expects. */
  final List<String> told = new ArrayList<>();

  final List<String> expected = new ArrayList<>();

  /** How many errors the handler should have been given by now, rejections left out. */
  int expectedErrors;

  private final Deque<Runnable> modelTasks = new ArrayDeque<>();
  private final List<Runnable> modelQueue = new ArrayList<>();
  private Workers workers = Workers.LIVE;
  private long rejectedMillis = Long.MIN_VALUE;

  Program(long seed) {
    random = new SplittableRandom(seed);
  }

  /** Does something at random, to both. */
  abstract void operate();

  /** What the model does at a tick; the timeouts have fired, what they handed over has not run. */
  abstract void tick();

  /** What must hold between operations. */
  abstract void check();

  /** Takes everything out. */
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
    assertThat(told).containsExactlyInAnyOrderElementsOf(expected);
    told.clear();
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

  /** Whether the executor has rejected nothing for this time, and runs what it is given. */
  final boolean livesSince(long millis) {
    return workers == Workers.LIVE && rejectedMillis + millis < rig.nowMillis();
  }

  /** As an executor does. */
  final void execute(Runnable task, Runnable ifRejected) {
    if (rejecting()) {
      ifRejected.run();
    } else {
      modelTasks.add(task);
    }
  }

  /**
   * As {@link HandOff} does: one task for all that is queued, and if it is rejected, all at once.
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

  /** What a callback of the model throws. */
  final void throwsError() {
    expectedErrors++;
  }
}
