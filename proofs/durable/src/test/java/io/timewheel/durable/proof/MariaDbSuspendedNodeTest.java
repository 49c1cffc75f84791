// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.testing.DatabaseServer;
import io.timewheel.durable.jdbc.testing.TestDatabases;

/** The same on MariaDB. */
class MariaDbSuspendedNodeTest extends SuspendedNodeTest {
  @Override
  DatabaseServer server() {
    return TestDatabases.mariadb();
  }
}
