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

  /** {@return the refusal of a command line or setting} */
  static CommandException wrongUsage(String message) {
    return new CommandException(ExitCode.USAGE, message);
  }

  int exitCode() {
    return exitCode;
  }
}
