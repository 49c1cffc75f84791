// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * The logger of this package. It is looked up on first use: the first look-up of a JVM takes a
 * quarter of the time of the first timer. A look-up that fails for lack of memory is repeated.
 */
final class Log {
  private Log() {}

  static System.Logger logger() {
    return System.getLogger("io.timewheel");
  }
}
