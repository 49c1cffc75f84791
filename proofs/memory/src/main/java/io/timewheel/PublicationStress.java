// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Ref;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * Tests which writes of one thread another thread sees: {@link Node}, "The state is written with
 * release … a reader without the lock only needs to see earlier writes", and the memory modes in
 * the package documentation.
 *
 * <p>The fields through which the threads communicate here are plain on purpose.
 */
@Ref("promise-10")
public final class PublicationStress {
  private PublicationStress() {}

  /** A handle that another thread obtains through a data race. */
  @JCStressTest
  @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "Not seen yet.")
  @Outcome(id = "1, 5, 1", expect = ACCEPTABLE, desc = "Whole: task, deadline, pending.")
  @Outcome(
      id = "1, 0, 1",
      expect = ACCEPTABLE,
      desc =
          "The deadline is not final, because it can be moved, so the Java memory model permits its"
              + " default value for a thread that obtains the handle through a data race. HotSpot"
              + " does not show it: the final fields of the object put a barrier at the end of the"
              + " constructor.")
  @Outcome(expect = FORBIDDEN, desc = "A handle without its task, or in an impossible state.")
  @State
  public static class RacyHandle {
    private final Rig rig = new Rig();
    private @Nullable WheelTimeout handle;

    @Actor
    public void start() {
      handle = rig.start(5);
    }

    @Actor
    public void read(III_Result r) {
      WheelTimeout seen = handle;
      if (seen != null) {
        r.r1 = seen.task() == rig.task && seen.timer() != null ? 1 : -1;
        r.r2 = (int) seen.remaining(TimeUnit.NANOSECONDS);
        r.r3 = seen.isPending() && !seen.isExpired() && !seen.isCancelled() ? 1 : -1;
      }
    }
  }

  /** Another thread cancels such a handle. It sees the links of the timeout because of the lock. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "Not seen yet.")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Cancelled.")
  @Outcome(expect = FORBIDDEN, desc = "Not cancelled, or no callback.")
  @State
  public static class RacyCancel {
    private final Rig rig = new Rig();
    private @Nullable WheelTimeout handle;

    @Actor
    public void start() {
      handle = rig.start(5);
    }

    @Actor
    public void cancel(II_Result r) {
      WheelTimeout seen = handle;
      if (seen != null) {
        r.r1 = seen.cancel() ? 1 : -1;
        r.r2 = rig.calls();
      }
    }
  }

  /** The task sees the writes of a thread before newTimeout (contract, 10). */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Not run yet.")
  @Outcome(id = "42", expect = ACCEPTABLE, desc = "The task saw it.")
  @Outcome(expect = FORBIDDEN, desc = "The task ran and did not see it.")
  @State
  public static class StartToTask {
    private final Rig rig = new Rig();
    private int written;
    private int seen;

    @Actor
    public void start() {
      written = 42;
      rig.start(timeout -> seen = written == 42 ? 42 : -1, 1);
    }

    @Actor
    public void expire(I_Result r) {
      rig.runDueAt(10);
      r.r1 = rig.broken ? Rig.BROKEN : seen;
    }
  }

  /** The task sees the writes of a thread before reschedule (contract, 10). */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Not run yet.")
  @Outcome(id = "42", expect = ACCEPTABLE, desc = "The task saw it.")
  @Outcome(expect = FORBIDDEN, desc = "The task ran and did not see it.")
  @State
  public static class RescheduleToTask {
    private final Rig rig = new Rig();
    private int written;
    private int seen;
    private final WheelTimeout timeout = rig.start(expired -> seen = written == 42 ? 42 : -1, 1000);

    @Actor
    public void reschedule() {
      written = 42;
      timeout.reschedule(1, TimeUnit.NANOSECONDS);
    }

    @Actor
    public void expire(I_Result r) {
      rig.runDueAt(100);
      r.r1 = rig.broken ? Rig.BROKEN : seen;
    }
  }

  /**
   * If {@code isCancelled}, which takes no lock, returns true, the calling thread sees the writes
   * that the cancelling thread made before {@code cancel} (contract, 10). The release of {@link
   * WheelTimeout#settle} and the acquire of the read ensure this.
   */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "Not cancelled yet.")
  @Outcome(id = "42", expect = ACCEPTABLE, desc = "Cancelled, and all earlier writes are seen.")
  @Outcome(expect = FORBIDDEN, desc = "Cancelled, but earlier writes are not seen.")
  @State
  public static class CancelToReader {
    private final Rig rig = new Rig();
    private final WheelTimeout timeout = rig.start(1);
    private int written;

    @Actor
    public void cancel() {
      written = 42;
      timeout.cancel();
    }

    @Actor
    public void read(I_Result r) {
      if (timeout.isCancelled()) {
        r.r1 = written == 42 ? 42 : -1;
      }
    }
  }

  /**
   * A thread that reads a deadline during a move, without a lock, gets the old or the new one, not
   * a mixture.
   */
  @JCStressTest
  @Outcome(id = "0", expect = ACCEPTABLE, desc = "The old deadline.")
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "The new deadline.")
  @Outcome(expect = FORBIDDEN, desc = "Neither.")
  @State
  public static class MovedDeadline {
    private static final long OLD = 0x1111_1111L;
    private static final long NEW = 0x2222_2222_2222_2222L;

    private final Rig rig = new Rig();
    private final WheelTimeout timeout = rig.start(OLD);

    @Actor
    public void reschedule() {
      timeout.reschedule(NEW, TimeUnit.NANOSECONDS);
    }

    @Actor
    public void read(I_Result r) {
      long remainingNanos = timeout.remaining(TimeUnit.NANOSECONDS);
      r.r1 = remainingNanos == OLD ? 0 : remainingNanos == NEW ? 1 : -1;
    }
  }
}
