// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

/**
 * The result of a bulk operation.
 *
 * @param count the number of timers that the filter has selected
 * @param changed the number of timers that the operation has changed
 */
public record BulkAnswer(long count, long changed) {}
