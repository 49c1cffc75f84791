// SPDX-License-Identifier: Apache-2.0

/**
 * Attempts of handlers on this node. The entry is {@link
 * io.timewheel.durable.internal.attempt.Handlers}: it finds the {@code HandlerQueue} of an entry,
 * by name or among {@code PrefixHandlers}, whose names share {@code SharedSlots}. The queue claims
 * an attempt and hands an {@code AttemptRun} to a thread, which calls the handler with an {@code
 * AttemptFiring}. {@code RetryRule} decides whether a failed attempt is followed by another one,
 * and {@code AttemptEndRecorder} records its end. {@code PauseGate} keeps an attempt from beginning
 * that was claimed before a pause; later claims are refused by the store, in {@code OwnerSteps}.
 */
@NullMarked
package io.timewheel.durable.internal.attempt;

import org.jspecify.annotations.NullMarked;
