// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import io.netty.util.HashedWheelTimer;

/** The Netty that the tests run on; the build runs them once on each. */
final class NettyVersion {
  private NettyVersion() {}

  /** The name of the jar that the classes come from. */
  static String jar() {
    String path =
        HashedWheelTimer.class.getProtectionDomain().getCodeSource().getLocation().getPath();
    return path.substring(path.lastIndexOf('/') + 1);
  }

  static boolean is42() {
    return jar().startsWith("netty-common-4.2.");
  }
}
