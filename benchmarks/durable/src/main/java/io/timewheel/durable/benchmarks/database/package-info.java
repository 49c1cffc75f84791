// SPDX-License-Identifier: Apache-2.0

/** Measures the limits of a shared database with bare SQL, without a store. */
@NullMarked
package io.timewheel.durable.benchmarks.database;

import org.jspecify.annotations.NullMarked;
