// SPDX-License-Identifier: Apache-2.0
/**
 * The file that a run of the benchmarks leaves behind: every single measurement, and on what it was
 * taken.
 */
@NullMarked
package io.timewheel.benchmarks.results;

import org.jspecify.annotations.NullMarked;
