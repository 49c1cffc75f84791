// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.testkit.ManualTimer;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

// begin: a timer for tests
@TestConfiguration(proxyBeanMethods = false)
class ManualTime {
  @Bean
  ManualTimer timer() {
    return ManualTimer.create();
  }
}
// end
