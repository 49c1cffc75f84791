// SPDX-License-Identifier: Apache-2.0

/**
 * Runs real database servers for tests, proofs and benchmarks.
 *
 * <p>A <em>server</em> is started from the binaries of the system, on a port of the loopback
 * interface, with its data in a temporary directory. It can be stopped, crashed and started again
 * on the same data, and never outlives the JVM. A server has many <em>databases</em>.
 */
@NullMarked
package io.timewheel.durable.jdbc.testing;

import org.jspecify.annotations.NullMarked;
