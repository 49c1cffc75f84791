// SPDX-License-Identifier: Apache-2.0
/**
 * Generates the tables of the documentation from one recorded run of the benchmarks. No figure in
 * the documentation is written by hand.
 *
 * <p>A <em>recording</em> is the output of one run of the benchmarks: measurements of a
 * <em>subject</em> under a <em>variant</em> of a <em>workload</em>, in several <em>rounds</em>. A
 * table shows the median over the rounds. Two subjects are compared within each round, and the
 * table shows the median of these quotients. So a machine that slows down from one round to the
 * next favours no subject.
 */
@NullMarked
package io.timewheel.benchmarks.report;

import org.jspecify.annotations.NullMarked;
