// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;

/** The location of the timers of a measurement. */
interface Place {
  /** Returns the size of the timers there. */
  long bytes() throws Exception;

  /** Returns the processor time of the server, if there is one. */
  long serverCpuNanos();

  /** Returns a location in files of the measured process. */
  static Place directory(Path directory) {
    return new Place() {
      @Override
      public long bytes() throws Exception {
        return Figures.diskBytes(directory);
      }

      @Override
      public long serverCpuNanos() {
        return 0;
      }
    };
  }
}
