// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

/**
 * A timer that was measured, or something that stands in for none.
 *
 * @param id short and stable
 * @param label for people
 * @param version of the library, or of the JDK
 * @param tick how fine its clock is, or a dash if it has none
 */
public record SubjectInfo(String id, String label, String version, String tick) {}
