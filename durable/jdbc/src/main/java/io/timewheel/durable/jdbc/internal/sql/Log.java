// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

/** Holds the logger of the module, which is named after the store. */
public final class Log {
  public static final System.Logger LOG =
      System.getLogger("io.timewheel.durable.jdbc.JdbcTimerStore");

  private Log() {}
}
