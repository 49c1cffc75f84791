// SPDX-License-Identifier: Apache-2.0

/**
 * Contains the tables of the in-memory store. The entry is {@link
 * io.timewheel.durable.internal.memory.MemoryTables}; the store itself is {@code
 * InMemoryTimerStore}.
 */
@NullMarked
package io.timewheel.durable.internal.memory;

import org.jspecify.annotations.NullMarked;
