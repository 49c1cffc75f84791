// SPDX-License-Identifier: Apache-2.0

/**
 * Encodes records and numbers for the stores of this project. The entry is {@link
 * io.timewheel.durable.spi.format.RecordCodec}; it uses {@code Codes} for constants, and {@code
 * ByteWriter}, {@code ByteReader} and {@code Text}.
 */
@NullMarked
package io.timewheel.durable.spi.format;

import org.jspecify.annotations.NullMarked;
