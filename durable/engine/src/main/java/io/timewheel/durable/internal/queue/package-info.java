// SPDX-License-Identifier: Apache-2.0

/**
 * Claims ready timers, for consumers and for handlers of other nodes. The entry is {@link
 * io.timewheel.durable.internal.queue.ReadyClaims}, the loop that claims for {@code WaitingClaims}.
 * {@code HandlerClaims} claims like a consumer. {@code ReadyTimers} makes due timers ready. {@code
 * ExpiredClaimLeases} ends expired claim leases of consumers.
 */
@NullMarked
package io.timewheel.durable.internal.queue;

import org.jspecify.annotations.NullMarked;
