// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

/** Thrown if a command fails. Its message is one line with the reason. */
final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
