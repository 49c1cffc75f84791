// SPDX-License-Identifier: Apache-2.0

/**
 * The operations of the API, one class for each kind. Each class adds its routes to the router,
 * converts a request to calls of the engine, and the result to an answer. The entry is {@link
 * io.timewheel.server.resource.TimerResource}, which creates, reads and cancels one timer.
 *
 * <p>Then read {@code TimerVerbResource} (pause, resume, run, retry, move) and {@code
 * TimerListResource}. Continue with {@code BatchResource} (many timers in one request), {@code
 * BulkResource} (one verb for all timers of a filter) and {@code QueueResource} (claims). {@code
 * EventResource}, {@code ViewResource}, {@code MetricsResource}, {@code BackupResource}, {@code
 * HealthResource} and {@code ConsoleResource} serve operators.
 */
@NullMarked
package io.timewheel.server.resource;

import org.jspecify.annotations.NullMarked;
