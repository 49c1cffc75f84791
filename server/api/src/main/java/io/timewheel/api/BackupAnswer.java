// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

/**
 * A complete backup.
 *
 * @param name its name
 * @param directory its directory on the server
 */
public record BackupAnswer(String name, String directory) {}
