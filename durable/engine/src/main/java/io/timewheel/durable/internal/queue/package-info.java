// SPDX-License-Identifier: Apache-2.0

/**
 * Claims ready timers, for consumers and for handlers of other nodes. The entry is {@link
 * io.timewheel.durable.internal.queue.QueueConsumers}, where claims wait. {@code ReadyTimers} makes
 * due timers ready. {@code ExpiredClaimLeases} ends expired claim leases of consumers, {@code
 * ConsumerEnds} creates the ends of their attempts, and {@code HandlerLeases} claims ready timers
 * for the handlers of this node.
 */
@NullMarked
package io.timewheel.durable.internal.queue;

import org.jspecify.annotations.NullMarked;
