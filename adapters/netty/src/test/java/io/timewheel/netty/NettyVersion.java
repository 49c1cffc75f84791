// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import io.netty.util.HashedWheelTimer;

/** The version of Netty in this test run; the build runs the tests once for each version. */
final class NettyVersion {
  private NettyVersion() {}

  /** Returns the name of the jar that contains the classes. */
  static String jar() {
    String path =
        HashedWheelTimer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  static boolean is42() {
    return jar().startsWith("netty-common-4.2.");
  }
}
