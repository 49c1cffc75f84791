// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.internal.sql;

/** Reads the clocks of this machine. */
public interface NodeClock {
  long nanoTime();

  long millis();

  /** {@return the clocks of the JVM} */
  static NodeClock system() {
    return new NodeClock() {
      @Override
      public long nanoTime() {
        return System.nanoTime();
      }

      @Override
      public long millis() {
        return System.currentTimeMillis();
      }
    };
  }
}
