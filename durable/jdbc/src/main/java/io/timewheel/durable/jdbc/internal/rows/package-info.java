// SPDX-License-Identifier: Apache-2.0

/**
 * Timers and nodes as columns of rows. The entry is {@link
 * io.timewheel.durable.jdbc.internal.rows.Rows}, which reads a record from a row. {@code
 * RecordCodec} encodes parts of a record. {@code Formats} decides which formats of the tables this
 * release accepts. {@code HandlerLines} and {@code NodeId} format texts about nodes.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.rows;

import org.jspecify.annotations.NullMarked;
