// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.TransactionFiring;
import java.time.Duration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

// begin: Purchases
@Component
class Purchases {
  private final JdbcTemplate database;
  private final CurrentTransactionTimer timer;

  Purchases(JdbcTemplate database, CurrentTransactionTimer timer) {
    this.database = database;
    this.timer = timer;
  }

  @Transactional
  void placed(String id) {
    database.update("insert into purchases values (?, 'PLACED')", id);
    timer.schedule(
        TimerSpec.of("shop", id).after(Duration.ofMinutes(30)).handler("purchases.cancel"));
  }

  @Transactional
  boolean paid(String id) {
    int changed =
        database.update(
            "update purchases set state = 'PAID' where id = ? and state = 'PLACED'", id);
    timer.cancel("shop", id);
    return changed == 1; // else it was too late
  }

  @OnTimer(value = "purchases.cancel", transactional = true)
  void cancel(TransactionFiring firing) {
    database.update(
        "update purchases set state = 'CANCELLED' where id = ? and state = 'PLACED'", firing.id());
  }
}
// end
