// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.postgresql;

import io.timewheel.durable.jdbc.internal.server.ServerErrors;
import io.timewheel.durable.spi.StoreException.Kind;
import java.sql.SQLException;
import java.util.Set;

/** Classifies the errors of PostgreSQL by their SQLSTATE. */
final class PostgreSqlErrors implements ServerErrors {
  @Override
  public Kind kind(SQLException failure) {
    String state = state(failure);
    return switch (state.substring(0, 2)) {
      case "22", "23", "54" -> Kind.REJECTED;
      case "08", "40", "57", "55" -> Kind.TRANSIENT;
      default -> state.equals("53300") || state.equals("25P03") ? Kind.TRANSIENT : Kind.UNAVAILABLE;
    };
  }

  @Override
  public boolean mayGoWellNextTime(SQLException failure) {
    String state = state(failure);
    return state.startsWith("40")
        || state.startsWith("08")
        || Set.of("55P03", "57P01", "57P02", "57P03", "57P05", "25P03").contains(state);
  }

  @Override
  public boolean isReadOnly(SQLException failure) {
    return state(failure).equals("25006");
  }

  @Override
  public boolean isHeldUp(SQLException failure) {
    return state(failure).equals("55P03");
  }

  @Override
  public boolean isThere(SQLException failure) {
    return state(failure).equals("23505");
  }

  static String state(SQLException failure) {
    String state = failure.getSQLState();
    return state == null || state.length() != 5 ? "XX000" : state;
  }
}
