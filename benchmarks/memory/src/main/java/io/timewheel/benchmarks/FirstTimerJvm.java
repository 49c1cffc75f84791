// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import java.util.concurrent.TimeUnit;

/**
 * The program of a JVM that makes one timer, with the defaults of its library, and starts one
 * timeout. It prints the time in nanoseconds. It loads nothing else.
 */
final class FirstTimerJvm {
  static final String NETTY = "netty";
  static final String TIMEWHEEL = "timewheel";

  private FirstTimerJvm() {}

  /** Measures the library that the argument names. */
  public static void main(String[] args) {
    boolean netty = args[0].equals(NETTY);
    long beganNanos = System.nanoTime();
    Object timeout = netty ? Netty.start() : Timewheel.start();
    long nanos = System.nanoTime() - beganNanos;
    System.out.println(nanos);
    System.out.flush();
    Runtime.getRuntime().halt(timeout == null ? 1 : 0);
  }

  /** A separate class, because only one of the two libraries is on the class path. */
  private static final class Netty {
    static Object start() {
      return new io.netty.util.HashedWheelTimer().newTimeout(timeout -> {}, 1, TimeUnit.HOURS);
    }
  }

  private static final class Timewheel {
    static Object start() {
      return io.timewheel.HierarchicalWheelTimer.create()
          .newTimeout(timeout -> {}, 1, TimeUnit.HOURS);
    }
  }
}
