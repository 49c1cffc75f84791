// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

/** The two indexes of ready timers: by queue, and by handler. */
enum ReadyIndex {
  /** Timers that consumers claim. */
  QUEUES("timewheel_ready", "queue", 1),
  /** Timers of handlers that the shard's owner does not have. */
  HANDLERS("timewheel_handler_ready", "handler", 0);

  private final String table;
  private final String column;
  private final int flag;

  ReadyIndex(String table, String column, int flag) {
    this.table = table;
    this.column = column;
    this.flag = flag;
  }

  /** Returns the column that contains the target. */
  String column() {
    return column;
  }

  /**
   * Formats an SQL text with the table (%1$s), the column of the target (%2$s) and its flag (%3$s).
   */
  String format(String sql) {
    return sql.formatted(table, column, flag);
  }
}
