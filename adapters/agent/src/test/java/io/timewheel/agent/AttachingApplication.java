// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import com.sun.tools.attach.VirtualMachine;

/**
 * An application to which the agent is attached after Netty's timer is loaded and before Dubbo's.
 */
final class AttachingApplication {
  private AttachingApplication() {}

  public static void main(String[] arguments) throws Exception {
    io.netty.util.HashedWheelTimer netty = new io.netty.util.HashedWheelTimer();
    VirtualMachine self = VirtualMachine.attach(Long.toString(ProcessHandle.current().pid()));
    self.loadAgent(arguments[0]);
    self.detach();
    System.out.println("netty on Timewheel: " + netty.toString().contains("[Timewheel"));
    System.out.println(
        "dubbo on Timewheel: "
            + new org.apache.dubbo.common.timer.HashedWheelTimer()
                .toString()
                .contains("[Timewheel"));
    System.exit(0);
  }
}
