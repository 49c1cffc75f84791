// SPDX-License-Identifier: Apache-2.0

/**
 * Does periodic work. The entry is {@link
 * io.timewheel.durable.internal.maintenance.MaintenanceLoop}. {@code ResumedTimerReleaser} releases
 * timers whose pause is over or whose handler is known again, {@code HistoryPurger} deletes old
 * history, and {@code UnknownHandlersReport} warns after the start.
 */
@NullMarked
package io.timewheel.durable.internal.maintenance;

import org.jspecify.annotations.NullMarked;
