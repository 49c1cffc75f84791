// SPDX-License-Identifier: Apache-2.0
/** The result file of a run of the benchmarks: every single measurement, and its environment. */
@NullMarked
package io.timewheel.benchmarks.results;

import org.jspecify.annotations.NullMarked;
