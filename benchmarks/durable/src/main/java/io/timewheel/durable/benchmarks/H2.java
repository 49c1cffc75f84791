// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.benchmarks;

import java.nio.file.Path;

/** The database of the peers. */
final class H2 {
  private H2() {}

  /**
   * Returns a URL with which each commit is written before it returns. By default, H2 writes up to
   * half a second later. No setting makes H2 wait for the disk, so a commit survives the process,
   * but not a power failure. (Seen with strace on H2 2.5.252: 300 commits are 300 calls of pwrite,
   * and none of fsync or fdatasync.)
   */
  static String url(Path directory) {
    return "jdbc:h2:file:"
        + directory.toAbsolutePath().resolve("db")
        + ";WRITE_DELAY=0;LOCK_TIMEOUT=60000;DB_CLOSE_ON_EXIT=FALSE";
  }
}
