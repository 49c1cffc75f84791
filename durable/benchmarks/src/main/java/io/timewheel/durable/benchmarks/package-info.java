// SPDX-License-Identifier: Apache-2.0
/**
 * Durable timers beside their peers and beside bare stores. {@link DurableBenchmarks} starts a JVM
 * for each measurement, {@link Measurement} is what runs there: a {@link Workload} on a {@link
 * Subject}. {@link Report} makes tables of the results.
 */
@NullMarked
package io.timewheel.durable.benchmarks;

import org.jspecify.annotations.NullMarked;
