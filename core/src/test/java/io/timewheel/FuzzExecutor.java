// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** The executor of a {@link FuzzedTimer}, of the kind that the program selects. */
final class FuzzExecutor implements Executor {
  static final int NONE = 0;
  static final int RUNS_AT_ONCE = 1;
  static final int RUNS_LATER = 2;
  static final int REJECTS_SOME = 3;
  static final int ACCEPTS_AND_THROWS = 4;

  final int kind;
  private final Deque<Runnable> accepted = new ArrayDeque<>();
  private long calls;
  private long rejected;

  FuzzExecutor(List<FuzzOp> program) {
    kind = (int) FuzzOp.setting(program, "executor", NONE);
  }

  @Override
  public void execute(Runnable command) {
    if (kind == RUNS_AT_ONCE) {
      command.run();
      return;
    }
    boolean throwsNow = kind >= REJECTS_SOME && ++calls % 2 != 0;
    if (!throwsNow || kind == ACCEPTS_AND_THROWS) {
      accepted.add(command);
    }
    if (throwsNow) {
      rejected++;
      throw new RejectedExecutionException("by the program");
    }
  }

  void runAccepted() {
    for (Runnable command = accepted.poll(); command != null; command = accepted.poll()) {
      command.run();
    }
  }

  long rejected() {
    return rejected;
  }
}
