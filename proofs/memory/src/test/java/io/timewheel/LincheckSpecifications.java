// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayList;
import java.util.List;

/**
 * The sequential behaviour of the operations of {@link LincheckTimers}: a list of pending timeouts,
 * and the tick that has been reached.
 */
final class LincheckSpecifications {

  private LincheckSpecifications() {}

  /** A pending timeout. In a list they are in the order in which they were started or moved. */
  private static final class Pending {
    final int name;
    final long tick;

    Pending(int name, long tick) {
      this.name = name;
      this.tick = tick;
    }
  }

  /** For {@link LincheckTimers.Running}, {@code Closing} and {@code Draining}. */
  public static class OneStripe {
    private final List<Pending> pending = new ArrayList<>();
    private long nowTick;
    private boolean stopped;

    public boolean newTimeout(int tick) {
      return !stopped && add(10 + tick, tick);
    }

    public boolean cancel(int i) {
      for (Pending timeout : pending) {
        if (timeout.name == i) {
          return pending.remove(timeout);
        }
      }
      return false;
    }

    public boolean reschedule(int i, int tick) {
      return cancel(i) && add(i, tick);
    }

    public int poll(int tick) {
      nowTick = Math.max(tick, nowTick);
      Pending first = null;
      for (Pending timeout : pending) {
        if (timeout.tick <= (first == null ? nowTick : first.tick - 1)) {
          first = timeout;
        }
      }
      if (first == null) {
        return -1;
      }
      pending.remove(first);
      nowTick = first.tick;
      return first.name;
    }

    public long pendingTimeouts() {
      return pending.size();
    }

    boolean add(int name, long tick) {
      return pending.add(new Pending(name, Math.max(tick, nowTick)));
    }

    List<Pending> end() {
      List<Pending> drained = new ArrayList<>(pending);
      pending.clear();
      stopped = true;
      return drained;
    }
  }

  /** For {@link LincheckTimers.Running}. */
  public static class Running extends OneStripe {
    public Running() {
      for (int i = 0; i < 3; i++) {
        add(i, i + 1);
      }
    }
  }

  /** For {@link LincheckTimers.Closing}. */
  public static class Closing extends OneStripe {
    public Closing() {
      add(0, 1);
    }

    public void stop() {
      end();
    }
  }

  /** For {@link LincheckTimers.Draining}. */
  public static class Draining extends Running {
    public int stop() {
      return end().stream().mapToInt(timeout -> 1 << timeout.name).sum();
    }
  }

  /** For {@link LincheckTimers.TwoStripes} and {@code FourStripes}: stripes make no difference. */
  public static class Striped {
    private final boolean[] started = new boolean[3];
    private final boolean[] pending = new boolean[3];
    private boolean due;

    public boolean start(int i, boolean soon) {
      if (started[i]) {
        return false;
      }
      started[i] = true;
      pending[i] = true;
      due |= i == 0 && soon;
      return true;
    }

    public boolean cancel(int i) {
      boolean cancelled = pending[i];
      pending[i] = false;
      return cancelled;
    }

    public boolean reschedule(int i, boolean soon) {
      if (pending[i] && i == 0) {
        due = soon;
      }
      return pending[i];
    }

    public int poll() {
      return due && cancel(0) ? 0 : -1;
    }
  }

  /** For {@link LincheckTimers.Limit}. */
  public static class Limit {
    private int taken;

    public boolean acquire() {
      if (taken < 2) {
        taken++;
        return true;
      }
      return false;
    }

    public void release() {
      taken--;
    }
  }
}
