// SPDX-License-Identifier: Apache-2.0
/**
 * The workloads, which run inside a measured JVM. JMH measures the operations; our own code
 * measures whole workloads. {@link io.timewheel.benchmarks.workloads.Child} is the program of such
 * a JVM.
 */
@NullMarked
package io.timewheel.benchmarks.workloads;

import org.jspecify.annotations.NullMarked;
