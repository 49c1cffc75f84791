// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;

/** Where the timers of a measurement are. */
interface Place {
  /** What they take there. */
  long bytes() throws Exception;

  /** What the server that keeps them has used so far, if there is one. */
  long serverCpuNanos();

  /** In files of the process that is measured. */
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
