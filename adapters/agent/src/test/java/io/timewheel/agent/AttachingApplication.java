// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import com.sun.tools.attach.VirtualMachine;
import io.netty.util.HashedWheelTimer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Attaches the agent after it has used classes of Netty's timer as the second argument requires,
 * and before Dubbo's timer is loaded.
 */
final class AttachingApplication {
  private AttachingApplication() {}

  public static void main(String[] arguments) throws Exception {
    HashedWheelTimer netty = null;
    String used = arguments[1];
    if (used.endsWith(" loaded")) {
      String name = "io.netty.util.HashedWheelTimer" + (used.startsWith("w") ? "$Worker" : "");
      Class.forName(name, false, AttachingApplication.class.getClassLoader());
    } else {
      netty = new HashedWheelTimer();
    }
    if (used.equals("timer started")) {
      netty.start();
    } else if (used.equals("timeout started")) {
      netty.newTimeout(timeout -> {}, 0, TimeUnit.SECONDS);
    }
    VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
    self.loadAgent(arguments[0]);
    self.detach();
    if (netty == null) {
      netty = new HashedWheelTimer();
    }
    CountDownLatch ran = new CountDownLatch(1);
    netty.newTimeout(timeout -> ran.countDown(), 0, TimeUnit.SECONDS);
    boolean runs = ran.await(1, TimeUnit.MINUTES);
    System.out.println(
        "netty on Timewheel: " + netty.toString().contains("[Timewheel") + ", runs: " + runs);
    System.out.println(
        "dubbo on Timewheel: "
            + new org.apache.dubbo.common.timer.HashedWheelTimer()
                .toString()
                .contains("[Timewheel"));
    System.exit(0);
  }
}
