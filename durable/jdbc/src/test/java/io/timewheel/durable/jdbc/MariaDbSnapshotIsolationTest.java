// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;

/** The whole contract as newer servers have it by default: who writes must have seen the latest. */
class MariaDbSnapshotIsolationTest extends MariaDbStoreTest {
  @Override
  Database session(Database database) {
    return database.with("sessionVariables", "innodb_snapshot_isolation=ON");
  }
}
