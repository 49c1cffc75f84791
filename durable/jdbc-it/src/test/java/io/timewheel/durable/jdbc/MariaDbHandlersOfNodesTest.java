// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

/** Runs the tests of {@link HandlersOfNodesTest} on MariaDB, as {@link MariaDbTest} describes. */
@On(Server.MARIADB)
class MariaDbHandlersOfNodesTest extends HandlersOfNodesTest {}
