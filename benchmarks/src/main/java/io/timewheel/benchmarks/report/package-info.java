// SPDX-License-Identifier: Apache-2.0
/**
 * Makes the tables of the documentation from one recorded run of the benchmarks, and from nothing
 * else: no figure in the documentation is written by hand.
 *
 * <p>A <em>recording</em> is what one run of the benchmarks wrote: measurements of a
 * <em>subject</em> under a <em>variant</em> of a <em>workload</em>, in several <em>rounds</em>. A
 * table shows the median over the rounds; two subjects are compared within each round, and the
 * median of these quotients is shown, so that a machine that slows down from one round to the next
 * favours no subject.
 */
@NullMarked
package io.timewheel.benchmarks.report;

import org.jspecify.annotations.NullMarked;
