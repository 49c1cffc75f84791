// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import io.timewheel.TimerTask;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An entry with a timeout, which is filed again and again until the entry is settled, and pending
 * no longer after that. Which thread may settle it, its pattern decides.
 *
 * <h2>Filing against settling</h2>
 *
 * <pre>
 *   filer                          settler
 *   1 timeout = filed              1 settled = true
 *   2 if (settled) cancel          2 if (timeout != null) cancel
 * </pre>
 *
 * Both fields are volatile, so it cannot be that neither sees the other.
 *
 * <h2>Filing against filing</h2>
 *
 * A timeout may fire, and be filed anew by the thread that it fires on, before the first filer has
 * stored it. The first must not then hide the newer one. So a filer stores its timeout only if that
 * has not expired, into a field that has not changed since before it looked.
 */
abstract class Filed implements TimerTask {
  private static final VarHandle TIMEOUT;

  static {
    try {
      TIMEOUT = MethodHandles.lookup().findVarHandle(Filed.class, "timeout", Timeout.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private volatile @Nullable Timeout timeout;
  private volatile boolean settled;

  /** Throws what the timer throws. No filing is begun before the timeout of the last has fired. */
  final void file(Timer timer, long delayNanos) {
    Timeout filed = timer.newTimeout(this, delayNanos, TimeUnit.NANOSECONDS);
    Timeout seen = timeout;
    while (!filed.isExpired() && !TIMEOUT.compareAndSet(this, seen, filed)) {
      seen = timeout;
    }
    if (settled) {
      filed.cancel();
    }
  }

  /** After this, nothing is pending; idempotent. */
  final void settle() {
    settled = true;
    Timeout pending = timeout;
    if (pending != null) {
      pending.cancel();
    }
  }

  /** Has what is pending fire after this delay, if that is earlier. */
  final void hasten(long delayNanos) {
    Timeout pending = timeout;
    if (pending != null && pending.remaining(TimeUnit.NANOSECONDS) > delayNanos) {
      pending.reschedule(delayNanos, TimeUnit.NANOSECONDS);
    }
  }

  final boolean isSettled() {
    return settled;
  }
}
