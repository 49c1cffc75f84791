// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;

/**
 * The claimed firings.
 *
 * @param firings none if the wait has ended
 */
public record ClaimAnswer(List<Firing> firings) {}
