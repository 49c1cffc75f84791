// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

class MariaDbServerTest extends DatabaseServerTest {
  @Override
  DatabaseServer shared() {
    return TestDatabases.mariadb();
  }

  @Override
  String name() {
    return "mariadb";
  }
}
