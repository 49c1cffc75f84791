// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

/** Runs the tests of {@link VerifyTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbVerifyTest extends VerifyTest {}
