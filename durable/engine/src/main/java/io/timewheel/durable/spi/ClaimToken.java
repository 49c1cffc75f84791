// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi;

/**
 * What proves that a claim is one's own: 128 bits, random for a lease that is given to a consumer.
 *
 * @param high the upper half
 * @param low the lower half
 */
public record ClaimToken(long high, long low) {}
