// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.queue;

import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.spi.record.TimerRecord;

/**
 * A timer that a consumer or a handler has claimed.
 *
 * @param queue the namespace and the name of the queue
 * @param pausesBefore the number of pauses before the claim was sent to the store
 */
public record ClaimedTimer(
    TimerKey queue, TimerRecord record, Firing firing, Claim claim, long pausesBefore) {}
