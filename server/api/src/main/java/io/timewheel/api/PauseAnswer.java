// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

/**
 * The answer to a pause or a resume of a namespace or a queue.
 *
 * @param running the number of attempts that still run, or are claimed by consumers
 */
public record PauseAnswer(long running) {}
