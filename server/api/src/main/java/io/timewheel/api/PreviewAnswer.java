// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.List;

/**
 * The runs of a schedule.
 *
 * @param next the times of the next runs
 */
public record PreviewAnswer(List<Instant> next) {}
