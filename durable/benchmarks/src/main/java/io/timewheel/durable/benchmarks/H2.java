// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;

/** The database of the peers. */
final class H2 {
  private H2() {}

  /**
   * Each commit is written before it is acknowledged, not up to half a second later as by default.
   * H2 does not wait for the disk, whatever it is told: what it acknowledges survives the process,
   * not a power failure. (Seen with strace on H2 2.5.252: 300 commits are 300 calls of pwrite, and
   * none of fsync or fdatasync.)
   */
  static String url(Path directory) {
    return "jdbc:h2:file:"
        + directory.toAbsolutePath().resolve("db")
        + ";WRITE_DELAY=0;LOCK_TIMEOUT=60000;DB_CLOSE_ON_EXIT=FALSE";
  }
}
