// SPDX-License-Identifier: Apache-2.0

/**
 * Routes due entries and the outcomes of commits. The entry is {@link
 * io.timewheel.durable.internal.dispatch.Dispatcher}, which passes a due entry to a handler, to
 * {@code ReadyTimers}, or to {@code UnknownHandlers}, which blocks the timer. Overdue entries wait
 * in {@code OverdueRate} first. The dispatcher ignores pauses, because the store refuses claims of
 * paused timers. {@code OutcomeRouter} passes each outcome, once, to the parts that need it.
 */
@NullMarked
package io.timewheel.durable.internal.dispatch;

import org.jspecify.annotations.NullMarked;
