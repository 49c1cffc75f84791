// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import java.sql.SQLException;
import org.junit.jupiter.api.Timeout;

/** Runs the tests of {@link OutageTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
@Timeout(300)
class MariaDbOutageTest extends OutageTest {
  @Override
  String readOnlyReason() {
    return "read-only";
  }

  @Override
  String readOnlySession() {
    return "SET SESSION TRANSACTION READ ONLY";
  }

  @Override
  void setReadOnly(boolean readOnly) throws SQLException {
    server.administration().execute("SET GLOBAL read_only = " + readOnly);
  }
}
