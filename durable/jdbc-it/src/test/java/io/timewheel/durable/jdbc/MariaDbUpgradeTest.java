// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

/** Runs the tests of {@link UpgradeTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbUpgradeTest extends UpgradeTest {
  @Override
  String waiting() {
    return "SELECT count(*) FROM information_schema.processlist"
        + " WHERE db = database() AND state = 'Waiting for table metadata lock'";
  }
}
