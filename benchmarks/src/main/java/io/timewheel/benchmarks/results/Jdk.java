// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * The JVM that was measured.
 *
 * @param version as {@code java.runtime.version} tells it
 * @param vendor who built it
 * @param vm the name of the virtual machine
 */
public record Jdk(String version, String vendor, String vm) {}
