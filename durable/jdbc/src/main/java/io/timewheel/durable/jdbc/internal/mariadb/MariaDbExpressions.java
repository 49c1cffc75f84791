// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.Expressions;

/** Contains SQL expressions for MariaDB. */
public final class MariaDbExpressions {
  /**
   * The time when the statement began, in UTC, because local times repeat when daylight saving time
   * ends.
   */
  public static final String NOW =
      "(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)) DIV 1000)";

  /**
   * A locking clause that waits up to 1 s, even in a write batch, which does not wait for locks on
   * timers.
   */
  static final String FOR_SHARE = "LOCK IN SHARE MODE WAIT 1";

  static final Expressions ALL = new Expressions(NOW, FOR_SHARE, "nextval(timewheel_incarnation)");

  private MariaDbExpressions() {}

  /** {@return a list of placeholders for a number of values} */
  static String marks(int count) {
    return "?" + ", ?".repeat(count - 1);
  }
}
