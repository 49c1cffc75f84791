// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.mariadb;

import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.SQLException;
import java.util.Set;

/** Classifies the errors of MariaDB by their codes. */
final class MariaDbErrors implements ServerErrors {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int DUPLICATE_KEY = 1_062;
  private static final int DEADLOCK = 1213;
  private static final int RECORD_CHANGED = 1020;
  private static final int PACKET_TOO_LARGE = 1153;

  /** Server shutdown and killed connection. */
  private static final Set<Integer> GONE = Set.of(1053, 1927);

  /** Too many connections (three codes), killed statement, and statement timeout. */
  private static final Set<Integer> BUSY = Set.of(1040, 1203, 1226, 1317, 1969);

  /** Read-only server, transaction and storage engine. */
  private static final Set<Integer> READ_ONLY = Set.of(1290, 1792, 1836);

  @Override
  public Kind kind(SQLException failure) {
    if (mayGoWellNextTime(failure) || BUSY.contains(code(failure))) {
      return Kind.TRANSIENT;
    }
    String state = state(failure);
    return state.startsWith("22") || state.startsWith("23") || code(failure) == PACKET_TOO_LARGE
        ? Kind.REJECTED
        : Kind.UNAVAILABLE;
  }

  @Override
  public boolean mayGoWellNextTime(SQLException failure) {
    int code = code(failure);
    return code == DEADLOCK
        || code == LOCK_WAIT_TIMEOUT
        || code == RECORD_CHANGED
        || GONE.contains(code)
        || (state(failure).startsWith("08") && code != PACKET_TOO_LARGE && !BUSY.contains(code));
  }

  @Override
  public boolean isReadOnly(SQLException failure) {
    return READ_ONLY.contains(code(failure));
  }

  @Override
  public boolean isThere(SQLException failure) {
    return code(failure) == DUPLICATE_KEY;
  }

  @Override
  public boolean isHeldUp(SQLException failure) {
    return code(failure) == LOCK_WAIT_TIMEOUT;
  }

  /** Returns the code of a failure; for a batch, the code of its cause. */
  static int code(SQLException failure) {
    return failure.getErrorCode() == 0 && failure.getCause() instanceof SQLException cause
        ? cause.getErrorCode()
        : failure.getErrorCode();
  }

  static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null ? "" : state;
  }
}
