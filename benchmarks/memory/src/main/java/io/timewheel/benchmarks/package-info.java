// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the timers with those of other libraries. Plans the measurements, makes each in a
 * separate JVM, and records all results. {@link io.timewheel.benchmarks.Benchmarks} is the entry
 * point; {@code benchmarks/memory/run} calls it.
 */
@NullMarked
package io.timewheel.benchmarks;

import org.jspecify.annotations.NullMarked;
