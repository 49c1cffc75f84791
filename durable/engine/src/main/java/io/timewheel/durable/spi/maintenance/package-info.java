// SPDX-License-Identifier: Apache-2.0

/**
 * Copies and verifications of stores. {@link io.timewheel.durable.spi.maintenance.StoreCopy} copies
 * the timers of a store into another one, and {@link
 * io.timewheel.durable.spi.maintenance.VerifyReport} lists the problems of a store.
 */
@NullMarked
package io.timewheel.durable.spi.maintenance;

import org.jspecify.annotations.NullMarked;
