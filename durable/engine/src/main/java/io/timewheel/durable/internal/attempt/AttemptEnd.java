// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.attempt;

import io.timewheel.durable.spi.Change;

/**
 * The end of an attempt: the change that records it, and what it leaves out.
 *
 * @param change the change
 * @param dropped how many missed runs of its timer are dropped once the change is applied
 */
public record AttemptEnd(Change.Finish change, long dropped) {}
