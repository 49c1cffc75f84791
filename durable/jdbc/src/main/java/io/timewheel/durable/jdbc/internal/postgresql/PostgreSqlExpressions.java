// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.Expressions;

/** Expressions of PostgreSQL. */
final class PostgreSqlExpressions {
  /** Not {@code now()}, which is when the transaction began. */
  static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  /** The number of the transaction; null if it has none. */
  static final String NUMBER = "pg_current_xact_id_if_assigned()";

  static final Expressions ALL =
      new Expressions(NOW, "FOR SHARE", "nextval('timewheel_incarnation')");

  private PostgreSqlExpressions() {}
}
