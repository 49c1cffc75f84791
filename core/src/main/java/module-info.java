// SPDX-License-Identifier: Apache-2.0

/** Timers for the JVM: millions of timeouts, each started and stopped in constant time. */
module io.timewheel.core {
  // Transitive: @Nullable stands in public signatures. Static: nothing needs it at run time.
  requires static transitive org.jspecify;

  exports io.timewheel;
}
