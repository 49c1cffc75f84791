// SPDX-License-Identifier: Apache-2.0

/**
 * Timers and nodes as columns of rows. The entry is {@link
 * io.timewheel.durable.jdbc.internal.rows.Rows}, which reads a record from a row. {@code Codes} are
 * the numbers of constants, {@code RecordCodec} writes the bytes of a record, {@code Formats}
 * decides which formats of the tables this release accepts, and {@code HandlerLines} and {@code
 * NodeId} are texts about nodes.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.rows;

import org.jspecify.annotations.NullMarked;
