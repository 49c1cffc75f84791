// SPDX-License-Identifier: Apache-2.0
/**
 * Measures the timers beside their peers: plans the measurements, makes each in a JVM of its own,
 * and records everything measured. {@link io.timewheel.benchmarks.Benchmarks} is the entry point;
 * {@code benchmarks/run} calls it.
 */
@NullMarked
package io.timewheel.benchmarks;

import org.jspecify.annotations.NullMarked;
