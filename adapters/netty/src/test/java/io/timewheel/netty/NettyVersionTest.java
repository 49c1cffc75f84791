// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

/** Verifies that the tests run on the version of Netty that the build has set. */
class NettyVersionTest {
  @Test
  void nettyHasTheExpectedVersion() {
    String expected = System.getProperty("timewheel.netty.expected");
    assumeTrue(expected != null, "not run by the build");

    assertThat(NettyVersion.jar()).isEqualTo("netty-common-" + expected + ".jar");
  }
}
