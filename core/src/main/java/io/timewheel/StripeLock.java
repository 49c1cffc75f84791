// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of a {@link Stripe}, which extends this class to keep lock and counts on one cache line.
 *
 * <p>A thread holds the lock for a few instructions, at most for {@link Wheel#POLL_BUDGET} moves,
 * and never while user code runs. So the lock needs no queue: one compare-and-set takes it, and one
 * release write frees it. No thread waits to be woken, so the release needs no fence before a check
 * for waiters. docs/internals/adr/0002 has the figures for this and for the following sections.
 *
 * <h2>Waiting</h2>
 *
 * A thread that finds the lock taken spins, and then tries to help the holder:
 *
 * <ul>
 *   <li>A holder that is not polling releases the lock within nanoseconds, unless it has lost its
 *       processor. The waiter yields to give the processor back. If that takes too long, the waiter
 *       sleeps, each time for twice as long. So many waiters do not keep the holder from running.
 *   <li>A holder that is polling may take the lock again at once, thousands of times, and needs no
 *       help. The waiter signals that it wants the lock, and sleeps. It does not yield. If other
 *       threads are busy, a yield would cost it a time slice, and the lock would be taken again
 *       when it returns. The holder sees the signal between two polls, and sleeps for the same
 *       time.
 * </ul>
 *
 * <h2>Stack overflow</h2>
 *
 * A {@link StackOverflowError} under the lock would leave a wheel half changed, or the lock taken
 * forever. So the lock is taken in a frame that is larger than all frames of the code under the
 * lock together. If the stack is too short, it overflows there, before anything has changed. The
 * interpreter checks the whole frame when it enters {@link #lock}. Compiled code does not use the
 * variables. But it checks that the stack has room for the frames that the interpreter would need,
 * if these exceed a page of memory. This includes the frames of inlined methods. So the variables
 * take 4 KB.
 *
 * <p>The first use of a {@link VarHandle} at a call site needs far more stack to link it. {@link
 * Stripe#rehearse} does that before the lock is first used.
 */
abstract class StripeLock extends Padding {
  private static final int SPINS = 64;
  private static final int YIELDS = 64;
  private static final long NAP_NANOS = 50_000;

  /** The number of times that the sleep of a waiter doubles. */
  private static final int DOUBLINGS = 4;

  /**
   * The number of spins in {@link #giveWay}: enough for a thread on another processor to see that
   * the lock is free, and to take it.
   */
  private static final int COURTESY_SPINS = 16;

  // The values of {@code holder}.
  private static final int NOBODY = 0;
  static final int ADDING = 1;
  static final int POLLING = 2;
  static final int OTHERS = 3;

  private static final VarHandle HOLDER;
  private static final VarHandle WANTED;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      HOLDER = lookup.findVarHandle(StripeLock.class, "holder", int.class);
      WANTED = lookup.findVarHandle(StripeLock.class, "wanted", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Not references: a JVM would put these right after the stripe's references, not at its end.

  @SuppressWarnings("unused") // read and written through HOLDER
  private int holder;

  /** True if a thread found the lock held for POLLING, and sleeps. */
  @SuppressWarnings("unused") // read and written through WANTED
  private boolean wanted;

  /**
   * Takes the lock.
   *
   * @param as the purpose: ADDING, POLLING or OTHERS
   * @return the purpose for which another thread held the lock at the first attempt; NOBODY if it
   *     was free
   */
  @SuppressWarnings("unused") // the variables make the frame larger than a page
  final int lock(int as) {
    long s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s0a, s0b, s0c, s0d, s0e, s0f;
    long s10, s11, s12, s13, s14, s15, s16, s17, s18, s19, s1a, s1b, s1c, s1d, s1e, s1f;
    long s20, s21, s22, s23, s24, s25, s26, s27, s28, s29, s2a, s2b, s2c, s2d, s2e, s2f;
    long s30, s31, s32, s33, s34, s35, s36, s37, s38, s39, s3a, s3b, s3c, s3d, s3e, s3f;
    long s40, s41, s42, s43, s44, s45, s46, s47, s48, s49, s4a, s4b, s4c, s4d, s4e, s4f;
    long s50, s51, s52, s53, s54, s55, s56, s57, s58, s59, s5a, s5b, s5c, s5d, s5e, s5f;
    long s60, s61, s62, s63, s64, s65, s66, s67, s68, s69, s6a, s6b, s6c, s6d, s6e, s6f;
    long s70, s71, s72, s73, s74, s75, s76, s77, s78, s79, s7a, s7b, s7c, s7d, s7e, s7f;
    long s80, s81, s82, s83, s84, s85, s86, s87, s88, s89, s8a, s8b, s8c, s8d, s8e, s8f;
    long s90, s91, s92, s93, s94, s95, s96, s97, s98, s99, s9a, s9b, s9c, s9d, s9e, s9f;
    long sa0, sa1, sa2, sa3, sa4, sa5, sa6, sa7, sa8, sa9, saa, sab, sac, sad, sae, saf;
    long sb0, sb1, sb2, sb3, sb4, sb5, sb6, sb7, sb8, sb9, sba, sbb, sbc, sbd, sbe, sbf;
    long sc0, sc1, sc2, sc3, sc4, sc5, sc6, sc7, sc8, sc9, sca, scb, scc, scd, sce, scf;
    long sd0, sd1, sd2, sd3, sd4, sd5, sd6, sd7, sd8, sd9, sda, sdb, sdc, sdd, sde, sdf;
    long se0, se1, se2, se3, se4, se5, se6, se7, se8, se9, sea, seb, sec, sed, see, sef;
    long sf0, sf1, sf2, sf3, sf4, sf5, sf6, sf7, sf8, sf9, sfa, sfb, sfc, sfd, sfe, sff;
    int found = (int) HOLDER.compareAndExchange(this, NOBODY, as);
    if (found != NOBODY) {
      lockContended(as);
    }
    return found;
  }

  @SuppressWarnings("ThreadPriorityCheck") // the holder may be waiting for this processor
  private void lockContended(int as) {
    int yields = 0;
    int naps = 0;
    for (int tries = 0; ; tries++) {
      int found = (int) HOLDER.getOpaque(this);
      if (found == NOBODY && HOLDER.compareAndSet(this, NOBODY, as)) {
        return;
      }
      if (tries < SPINS) {
        Thread.onSpinWait();
      } else if (found == POLLING) {
        WANTED.setOpaque(this, true);
        nap(NAP_NANOS);
      } else if (yields < YIELDS) {
        Thread.yield();
        yields++;
      } else {
        nap(NAP_NANOS << Math.min(naps, DOUBLINGS));
        naps++;
      }
    }
  }

  final void unlock() {
    HOLDER.setRelease(this, NOBODY);
  }

  /**
   * Lets waiters take the lock, which the caller has released and is about to take again. The
   * caller keeps its processor unless a thread sleeps for the lock: on a busy machine, each yield
   * would cost a time slice.
   */
  final void giveWay() {
    if ((boolean) WANTED.getOpaque(this)) {
      WANTED.setOpaque(this, false);
      nap(NAP_NANOS);
      return;
    }
    for (int i = 0; i < COURTESY_SPINS; i++) {
      Thread.onSpinWait();
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // an interrupted thread cannot sleep
  private void nap(long nanos) {
    LockSupport.parkNanos(this, nanos);
    if (Thread.currentThread().isInterrupted()) {
      Thread.yield();
    }
  }
}
