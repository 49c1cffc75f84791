// SPDX-License-Identifier: Apache-2.0

/**
 * MariaDB, 10.11 or newer. The entry is {@link io.timewheel.durable.jdbc.internal.mariadb.MariaDb},
 * which lists the parts: each class here implements one interface of {@link
 * io.timewheel.durable.jdbc.internal.server}, and {@code MariaDbRows} sends lists of rows.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.mariadb;

import org.jspecify.annotations.NullMarked;
