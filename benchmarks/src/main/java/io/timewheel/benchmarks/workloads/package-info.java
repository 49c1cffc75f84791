// SPDX-License-Identifier: Apache-2.0
/**
 * What is measured, and how: all that runs inside a measured JVM. The operations are measured by
 * JMH, whole workloads by code of our own; {@link io.timewheel.benchmarks.workloads.Child} is the
 * program of such a JVM.
 */
@NullMarked
package io.timewheel.benchmarks.workloads;

import org.jspecify.annotations.NullMarked;
