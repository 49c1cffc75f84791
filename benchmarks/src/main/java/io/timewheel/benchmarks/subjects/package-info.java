// SPDX-License-Identifier: Apache-2.0
/**
 * The timers that are measured, behind one interface. Each class but the interface and the list
 * needs the jar of its peer, which only the JVM that measures this peer has.
 */
@NullMarked
package io.timewheel.benchmarks.subjects;

import org.jspecify.annotations.NullMarked;
