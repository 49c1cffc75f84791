// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;

/** The same on MariaDB, whose commits and errors differ. */
class MariaDbClusterTest extends ClusterTest {
  @Override
  DatabaseServer server() {
    DatabaseServer unused = TestDatabases.mariadb(); // or the test is skipped
    return DatabaseServer.mariadb();
  }
}
