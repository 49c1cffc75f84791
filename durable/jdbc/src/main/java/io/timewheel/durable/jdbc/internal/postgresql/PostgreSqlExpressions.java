// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.Expressions;

/** Contains SQL expressions for PostgreSQL. */
final class PostgreSqlExpressions {
  /** The current time; {@code now()} would return the start of the transaction. */
  static final String NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  /** The number of the transaction; null if it has none. */
  static final String NUMBER = "pg_current_xact_id_if_assigned()";

  static final Expressions ALL =
      new Expressions(NOW, "FOR SHARE", "nextval('timewheel_incarnation')");

  private PostgreSqlExpressions() {}
}
