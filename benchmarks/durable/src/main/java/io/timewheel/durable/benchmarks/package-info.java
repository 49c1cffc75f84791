// SPDX-License-Identifier: Apache-2.0
/**
 * Durable timers compared with their peers and with bare stores. {@link DurableBenchmarks} starts a
 * JVM for each measurement, whose main class is {@link Measurement}: a {@link Workload} on a {@link
 * Subject}. {@link Report} writes tables of the results.
 */
@NullMarked
package io.timewheel.durable.benchmarks;

import org.jspecify.annotations.NullMarked;
