// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * A measured timer, or a bound that is measured in place of a timer.
 *
 * @param id short and stable
 * @param label for readers
 * @param version of the library, or of the JDK
 * @param tick the resolution of its clock, or a dash if it has none
 */
public record SubjectInfo(String id, String label, String version, String tick) {}
