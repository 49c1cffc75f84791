// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.maintenance;

/** The two indexes of ready timers: by queue, and by handler. */
enum ReadyIndex {
  /** Timers that consumers claim. */
  QUEUES("timewheel_ready", "queue", 1),
  /** Timers whose owner does not know their handler. */
  HANDLERS("timewheel_handler_ready", "handler", 0);

  private final String table;
  private final String column;
  private final int flag;

  ReadyIndex(String table, String column, int flag) {
    this.table = table;
    this.column = column;
    this.flag = flag;
  }

  /** The column that contains the target. */
  String column() {
    return column;
  }

  /**
   * Puts the table into an SQL text at %1$s, the column of the target at %2$s, its flag at %3$s.
   */
  String format(String sql) {
    return sql.formatted(table, column, flag);
  }
}
