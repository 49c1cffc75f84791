// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;

/**
 * A change of a timer, as the data of a server-sent event.
 *
 * @param at the time of the change
 * @param namespace the namespace of the timer
 * @param id the ID of the timer
 * @param version the version of the timer
 * @param state the state after the change
 * @param change the kind of change
 */
public record TimerEvent(
    Instant at, String namespace, String id, long version, String state, String change) {}
