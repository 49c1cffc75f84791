// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfiguration;

/** Verifies that the tests run on the version of Spring Boot that the build has set. */
class BootVersionTest {
  @Test
  void springBootHasTheExpectedVersion() {
    String expected = System.getProperty("timewheel.boot.expected");
    assumeTrue(expected != null, "not run by the build");

    assertThat(SpringBootVersion.getVersion()).isEqualTo(expected);
    assertThat(AutoConfiguration.class.getProtectionDomain().getCodeSource().getLocation())
        .asString()
        .endsWith("spring-boot-autoconfigure-" + expected + ".jar");
  }
}
