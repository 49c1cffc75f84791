// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * The measured JVM.
 *
 * @param version the value of {@code java.runtime.version}
 * @param vendor the vendor of the build
 * @param vm the name of the virtual machine
 */
public record Jdk(String version, String vendor, String vm) {}
