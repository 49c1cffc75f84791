// SPDX-License-Identifier: Apache-2.0

/**
 * Implements the store on PostgreSQL, 14 or newer. The entry is {@link
 * io.timewheel.durable.jdbc.internal.postgresql.PostgreSql}, which lists the parts: each class
 * implements one interface of {@link io.timewheel.durable.jdbc.internal.server}.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.postgresql;

import org.jspecify.annotations.NullMarked;
