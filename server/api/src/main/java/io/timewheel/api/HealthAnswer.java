// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

/**
 * The health of a node.
 *
 * @param status {@code ok} or {@code ready}
 */
public record HealthAnswer(String status) {}
