// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.Timeout;
import io.timewheel.Timer;
import java.time.Duration;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

// begin: a component
@Component
class Sessions {
  private final Timer timer;

  Sessions(Timer timer) {
    this.timer = timer;
  }

  Timeout closeWhenIdle(Session session) {
    return timer.newTimeout(timeout -> session.close(), Duration.ofMinutes(30));
  }

  @Scheduled(cron = "0 0 3 * * *")
  void report() {
    System.out.println(timer.stats());
  }
}

// end
