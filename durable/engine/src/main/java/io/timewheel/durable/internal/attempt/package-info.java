// SPDX-License-Identifier: Apache-2.0

/**
 * Runs attempts of handlers on this node. The entry is {@link
 * io.timewheel.durable.internal.attempt.Handlers}, which finds the {@code HandlerQueue} of an
 * entry, by name or among {@code PrefixHandlers}. The queue takes a slot of its {@code SlotBudget},
 * claims an attempt and passes an {@code AttemptRun} to {@code HandlerAttempts}. These hand it to a
 * thread, which calls the handler with an {@code AttemptFiring}. {@code EndRule} decides whether a
 * failed attempt is followed by another one, and {@code AttemptEndRecorder} records its end. {@code
 * PauseGate} prevents an attempt that was claimed before a pause from beginning. The store refuses
 * later claims, in {@code OwnerSteps}.
 */
@NullMarked
package io.timewheel.durable.internal.attempt;

import org.jspecify.annotations.NullMarked;
