// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Skeleton. */
@JCStressTest
@Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "Both ran.")
@State
public class CancelRaceStress {
  /** Skeleton. */
  @Actor
  public void one(II_Result result) {
    result.r1 = 1;
  }

  /** Skeleton. */
  @Actor
  public void two(II_Result result) {
    result.r2 = 2;
  }
}
