// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.jdbc.testing.TestDatabases;

/** The same on MariaDB. */
class MariaDbSuspendedNodeTest extends SuspendedNodeTest {
  MariaDbSuspendedNodeTest() {
    super(TestDatabases.mariadb());
  }
}
