// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.record;

/**
 * Identifies a claim. The token of a consumer consists of 128 random bits. The token of a handler's
 * attempt consists of the epoch of the shard, which is unique to its owner, and a number that is
 * unique in the process.
 *
 * @param high the upper half
 * @param low the lower half
 */
public record ClaimToken(long high, long low) {}
