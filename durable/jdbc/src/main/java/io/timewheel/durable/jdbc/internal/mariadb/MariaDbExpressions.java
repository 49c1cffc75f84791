// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.Expressions;

/** Expressions of MariaDB. */
public final class MariaDbExpressions {
  /** In UTC, since local times come twice in autumn. As it was when the statement began. */
  public static final String NOW =
      "(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(6)) DIV 1000)";

  /** A wait of a second, also in a write batch, which waits for no timer. */
  static final String FOR_SHARE = "LOCK IN SHARE MODE WAIT 1";

  static final Expressions ALL = new Expressions(NOW, FOR_SHARE, "nextval(timewheel_incarnation)");

  private MariaDbExpressions() {}

  /** {@return the places of so many values} */
  static String marks(int count) {
    return "?" + ", ?".repeat(count - 1);
  }
}
