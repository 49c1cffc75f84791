// SPDX-License-Identifier: Apache-2.0

/** Timers for the JVM: millions of timeouts, each started and stopped in constant time. */
module io.timewheel.core {
  requires static jdk.jfr; // its events are omitted if it is missing
  requires static org.jspecify;

  exports io.timewheel;
  exports io.timewheel.concurrent;
  exports io.timewheel.pattern;
}
