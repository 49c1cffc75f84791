// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

/**
 * Looks up the logger of this package for each message. The first lookup in a JVM takes a quarter
 * of the time that the first timer takes, so making a timer does none. A lookup that fails for lack
 * of memory is repeated for the next message.
 */
final class Log {
  private Log() {}

  static System.Logger logger() {
    return System.getLogger("io.timewheel");
  }
}
