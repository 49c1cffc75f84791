// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

class PostgreSqlServerTest extends DatabaseServerTest {
  @Override
  DatabaseServer shared() {
    return TestDatabases.postgresql();
  }

  @Override
  String name() {
    return "postgresql";
  }
}
