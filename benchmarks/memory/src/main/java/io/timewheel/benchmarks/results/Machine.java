// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * The machine of the measurements.
 *
 * @param cpus the number of processors that the JVM sees
 * @param cpuModel as the operating system reports it
 * @param memoryBytes the memory of the machine
 * @param os its name and version
 */
public record Machine(int cpus, String cpuModel, long memoryBytes, String os) {}
