// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

/**
 * The outcome of a request.
 *
 * @param outcome such as {@code cancelled} or {@code done}
 */
public record OutcomeAnswer(String outcome) {}
