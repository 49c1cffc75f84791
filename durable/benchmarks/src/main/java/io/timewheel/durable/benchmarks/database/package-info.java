// SPDX-License-Identifier: Apache-2.0

/** Measures what a shared database allows: bare SQL, without a store. */
@NullMarked
package io.timewheel.durable.benchmarks.database;

import org.jspecify.annotations.NullMarked;
