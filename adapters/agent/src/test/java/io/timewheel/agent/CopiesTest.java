// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests copies of Netty in other packages, and an unrelated timer with the same class name. */
@Tag("jar")
class CopiesTest {
  private static final String GRPC = "io.grpc.netty.shaded.io.netty.util.";
  private static final String CASSANDRA = "com.datastax.oss.driver.shaded.netty.util.";

  @Test
  void copyInGrpcIsReplaced() throws Exception {
    assertReplaced(GRPC);
  }

  @Test
  void copyInCassandrasDriverIsReplaced() throws Exception {
    assertReplaced(CASSANDRA);
  }

  private static void assertReplaced(String packageName) throws Exception {
    ChildJvm.Output output = ChildJvm.withAgent("tick=1ms").run(CopyApplication.class, packageName);

    assertThat(output.text())
        .contains("[timewheel-agent] replaced " + packageName + "HashedWheelTimer of file:")
        .contains("[Timewheel, tick 1 ms]")
        .contains("ran: true")
        .contains("cancelled: true")
        .contains("left: 1");
    assertThat(output.exitCode()).isZero();
  }

  @Test
  void timerOfNetty3IsLeftAlone() throws Exception {
    ChildJvm.Output output =
        ChildJvm.withAgent("tick=1ms").run(CopyApplication.class, "org.jboss.netty.util.");

    assertThat(output.text())
        .contains("left alone: org.jboss.netty.util.HashedWheelTimer: ")
        .contains("ran: true")
        .contains("cancelled: true")
        .contains("left: ")
        .doesNotContain("[Timewheel");
    assertThat(output.exitCode()).isZero();
  }
}
