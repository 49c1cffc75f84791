// SPDX-License-Identifier: Apache-2.0
/**
 * The measured timers, behind one interface. Each class except the interface and the list needs the
 * jar of its peer, which only the JVM that measures this peer has.
 */
@NullMarked
package io.timewheel.benchmarks.subjects;

import org.jspecify.annotations.NullMarked;
