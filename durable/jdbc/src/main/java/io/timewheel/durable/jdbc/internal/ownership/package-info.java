// SPDX-License-Identifier: Apache-2.0

/**
 * Node leases, and the shards that a node owns. The entry is {@link
 * io.timewheel.durable.jdbc.internal.ownership.Ownership}, with its statements in {@code
 * OwnershipRows}. {@code Epoch} is the number of an owner, {@code DatabaseTime} the clock of the
 * database, and {@code ClusterPauses} has pauses confirmed by all nodes. {@code LeaseThreads} calls
 * both.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.ownership;

import org.jspecify.annotations.NullMarked;
