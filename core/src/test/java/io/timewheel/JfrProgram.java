// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program with a late task and a timer thread, for JVMs with and without Flight Recorder. */
public final class JfrProgram {
  private JfrProgram() {}

  public static void main(String[] args) throws InterruptedException {
    TestClock clock = new TestClock();
    PolledTimer polled = PolledTimer.builder().timeSource(clock).build();
    polled.newTimeout(timeout -> System.out.println("polled"), 1, TimeUnit.MILLISECONDS);
    clock.advance(TimeUnit.SECONDS.toNanos(1));
    polled.poll();

    CountDownLatch ran = new CountDownLatch(1);
    Timer timer = HierarchicalWheelTimer.create();
    timer.newTimeout(timeout -> ran.countDown(), 1, TimeUnit.MILLISECONDS);
    ran.await();
    System.out.println("ran");
    timer.stop();

    System.out.println("recorder: " + ModuleLayer.boot().findModule("jdk.jfr").isPresent());
    System.out.println("module: " + Timer.class.getModule().getName());
  }
}
