// SPDX-License-Identifier: Apache-2.0
/**
 * Runs other libraries on a timer of this library. Each accepts a {@link
 * java.util.concurrent.ScheduledExecutorService}, which {@link
 * io.timewheel.concurrent.WheelScheduledExecutor} is.
 */
@NullMarked
package io.timewheel.examples.seams;

import org.jspecify.annotations.NullMarked;
