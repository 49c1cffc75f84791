// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.Firing;
import java.time.ZoneId;
import org.springframework.boot.ApplicationRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

@Component
class Reports {
  @OnTimer("report")
  void report(Firing firing) {
    System.out.println("report, due at " + firing.scheduledAt());
  }

  // begin: recurring timers
  @Bean
  ApplicationRunner scheduleReport(DurableTimer scheduler) {
    return arguments ->
        scheduler.schedule(
            TimerSpec.of("shop", "report")
                .cron("0 9 * * MON-FRI", ZoneId.of("Europe/Berlin"))
                .handler("report"));
  }
  // end
}
