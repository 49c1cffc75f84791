// SPDX-License-Identifier: Apache-2.0

/**
 * Implements the store on MariaDB, 10.11 or newer. The entry is {@link
 * io.timewheel.durable.jdbc.internal.mariadb.MariaDb}, which lists the parts: each class implements
 * one interface of {@link io.timewheel.durable.jdbc.internal.server}, and {@code MariaDbRows}
 * executes statements for lists of rows.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.mariadb;

import org.jspecify.annotations.NullMarked;
