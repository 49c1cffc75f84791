// SPDX-License-Identifier: Apache-2.0
/**
 * Runs other libraries on a timer of this library. Each of them accepts a {@link
 * java.util.concurrent.ScheduledExecutorService}, and {@link
 * io.timewheel.concurrent.WheelScheduledExecutor} implements that interface.
 */
@NullMarked
package io.timewheel.examples.seams;

import org.jspecify.annotations.NullMarked;
