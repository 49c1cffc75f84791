// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.List;

/**
 * The backups of a server.
 *
 * @param backups the backups, by name
 */
public record BackupsAnswer(List<Backup> backups) {
  /**
   * A complete backup.
   *
   * @param name its name
   * @param createdAt when it was made
   * @param automatic whether a schedule made it, and will delete it
   */
  public record Backup(String name, Instant createdAt, boolean automatic) {}
}
