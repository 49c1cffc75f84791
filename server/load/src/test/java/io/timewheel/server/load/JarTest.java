// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.server.TimewheelServer;
import java.net.URL;
import org.junit.jupiter.api.Test;

/** Tests the jar of the server, which is built after the server's own tests have passed. */
class JarTest {
  @Test
  void printsItsVersion() {
    URL source = TimewheelServer.class.getProtectionDomain().getCodeSource().getLocation();
    assumeTrue(source.getPath().endsWith(".jar"), "the server was not packaged: " + source);
    assertThat(TimewheelServer.class.getPackage().getImplementationVersion()).isNotBlank();
  }
}
