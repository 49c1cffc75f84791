// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

/** Runs the tests of {@link OwnershipTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbOwnershipTest extends OwnershipTest {}
