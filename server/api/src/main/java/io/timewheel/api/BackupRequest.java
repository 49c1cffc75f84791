// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import org.jspecify.annotations.Nullable;

/**
 * A request for a backup.
 *
 * @param name the name of its directory; the time if absent
 */
public record BackupRequest(@Nullable String name) {
  /**
   * A complete backup.
   *
   * @param name its name
   * @param directory its directory on the server
   */
  public record Answer(String name, String directory) {}
}
