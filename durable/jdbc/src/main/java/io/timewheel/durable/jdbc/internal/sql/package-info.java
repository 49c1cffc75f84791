// SPDX-License-Identifier: Apache-2.0

/**
 * Statements on one connection; no class here depends on a table. The entry is {@link
 * io.timewheel.durable.jdbc.internal.sql.Statements}, which sends statements together, with {@code
 * Parameters} for their values. {@code Sql} executes single statements without parameters, {@code
 * NodeClock} is the clock of this process, and {@code Log} is the logger of the module.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.sql;

import org.jspecify.annotations.NullMarked;
