// SPDX-License-Identifier: Apache-2.0
/**
 * Measures the timers beside their peers: plans what is to be measured, has each single measurement
 * made by a JVM of its own, and writes down all that came out. {@link
 * io.timewheel.benchmarks.Benchmarks} is the entry point; {@code benchmarks/run} calls it.
 */
@NullMarked
package io.timewheel.benchmarks;

import org.jspecify.annotations.NullMarked;
