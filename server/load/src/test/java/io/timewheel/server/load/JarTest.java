// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.timewheel.server.TimewheelServer;
import java.net.URL;
import org.junit.jupiter.api.Test;

/** The jar of the server, which its own tests cannot see: it is made of what passed them. */
class JarTest {
  @Test
  void saysItsVersion() {
    URL source = TimewheelServer.class.getProtectionDomain().getCodeSource().getLocation();
    assumeTrue(source.getPath().endsWith(".jar"), "the server was not packaged: " + source);
    assertThat(TimewheelServer.class.getPackage().getImplementationVersion()).isNotBlank();
  }
}
