// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

/** A command that did not do what it was to do: one line says why. */
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
