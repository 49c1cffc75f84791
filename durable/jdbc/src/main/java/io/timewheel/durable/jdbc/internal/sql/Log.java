// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

/** The logger of the module, whose name is that of the store. */
public final class Log {
  public static final System.Logger LOG =
      System.getLogger("io.timewheel.durable.jdbc.JdbcTimerStore");

  private Log() {}
}
