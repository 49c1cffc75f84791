// SPDX-License-Identifier: Apache-2.0

/**
 * The next step of a due entry, and of the outcome of a commit. The entry is {@link
 * io.timewheel.durable.internal.dispatch.Dispatcher}: to a handler, to {@code ReadyTimers}, or to
 * {@code UnknownHandlers}, which blocks the timer; overdue entries wait in {@code OverdueRate}
 * first. It knows no pauses: the store answers a claim with them. {@code OutcomeRouter} passes each
 * outcome to the parts that it concerns, once.
 */
@NullMarked
package io.timewheel.durable.internal.dispatch;

import org.jspecify.annotations.NullMarked;
