// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

import io.timewheel.durable.jdbc.testing.Database;
import org.junit.jupiter.api.Tag;

/**
 * Runs the contract with the default of newer servers, innodb_snapshot_isolation: a transaction can
 * change only rows whose latest version it has read.
 */
@Tag("proof")
class MariaDbSnapshotIsolationTest extends MariaDbStoreTest {
  @Override
  Database session(Database database) {
    return database.with("sessionVariables", "innodb_snapshot_isolation=ON");
  }
}
