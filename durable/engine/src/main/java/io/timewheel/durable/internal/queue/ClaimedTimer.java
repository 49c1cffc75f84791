// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.spi.Claim;

/** A timer of a queue that a consumer has claimed. */
public record ClaimedTimer(Firing firing, Claim claim) {}
