// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.record.Change;

/**
 * The end of an attempt: the change that records it, and the number of runs that it drops.
 *
 * @param change the change
 * @param dropped the number of missed runs of its timer that are dropped once the change is applied
 */
public record AttemptEnd(Change.Finish change, long dropped) {}
