// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * What the measurements were taken on.
 *
 * @param cpus how many the JVM sees
 * @param cpuModel as the operating system names it
 * @param memoryBytes of the machine
 * @param os its name and version
 */
public record Machine(int cpus, String cpuModel, long memoryBytes, String os) {}
