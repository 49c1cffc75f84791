// SPDX-License-Identifier: Apache-2.0

/**
 * Creates the tables. The entry and only class is {@link
 * io.timewheel.durable.jdbc.internal.schema.Schema}, which creates the tables, prepares them for a
 * release, and switches to its format.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.schema;

import org.jspecify.annotations.NullMarked;
