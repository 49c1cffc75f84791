// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.ownership;

import io.timewheel.durable.jdbc.internal.server.Expressions;
import io.timewheel.durable.jdbc.internal.sql.NodeClock;
import io.timewheel.durable.jdbc.internal.transaction.Transactions;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Estimates the time of the database from its answers. Thread-safe. */
public final class DatabaseClock {
  private static final int MAX_QUESTIONS = 10;
  private static final long QUICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final NodeClock clock;
  private volatile @Nullable DatabaseTime last;

  /**
   * Reads the time of the database, and repeats this a few times until the answer is quick enough
   * to be accurate.
   */
  public DatabaseClock(Transactions transactions, Expressions expressions, NodeClock clock) {
    this.clock = clock;
    for (int i = 0; i < MAX_QUESTIONS; i++) {
      DatabaseTime now =
          transactions.read(
              connection -> {
                try (PreparedStatement statement =
                    connection.prepareStatement("SELECT " + expressions.nowMillis())) {
                  long askedNanos = clock.nanoTime();
                  try (ResultSet time = statement.executeQuery()) {
                    time.next();
                    return DatabaseTime.of(time.getLong(1), askedNanos, clock.nanoTime());
                  }
                }
              });
      keep(now);
      if (now.errorNanos() <= QUICK_NANOS) {
        return;
      }
    }
  }

  /** Keeps a time of the database unless the last one is more accurate. */
  void keep(DatabaseTime now) {
    DatabaseTime before = last;
    last = before == null ? now : before.orBetter(now);
  }

  /** Returns the time by which the clock of the database is ahead of this node's clock. */
  public long offsetMillis() {
    DatabaseTime now = last;
    return now == null ? 0 : now.millisAt(clock.nanoTime()) - clock.millis();
  }
}
