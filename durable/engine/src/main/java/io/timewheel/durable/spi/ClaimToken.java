// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

/**
 * Identifies a claim: 128 random bits if a consumer holds it; for the attempt of a handler, the
 * epoch of the shard, which no other owner has, and a number that the process gives once.
 *
 * @param high the upper half
 * @param low the lower half
 */
public record ClaimToken(long high, long low) {}
