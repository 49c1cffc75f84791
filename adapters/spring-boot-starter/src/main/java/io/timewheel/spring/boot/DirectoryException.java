// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

/** Thrown if the directory of durable timers cannot be opened. */
final class DirectoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The directory as written in the property. */
  private final String directory;

  private final String reason;

  DirectoryException(String directory, RuntimeException cause) {
    super("'" + directory + "' of timewheel.durable.directory: " + cause.getMessage(), cause);
    this.directory = directory;
    reason = String.valueOf(cause.getMessage());
  }

  String directory() {
    return directory;
  }

  String reason() {
    return reason;
  }
}
