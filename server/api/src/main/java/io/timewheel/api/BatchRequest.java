// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.util.List;

/**
 * Timers that one request creates or replaces, each independently.
 *
 * @param timers 1 to 1,000 timers
 */
public record BatchRequest(List<BatchItem> timers) {}
