// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

/** The exit codes of the process. They never change, because scripts rely on them. */
final class ExitCode {
  static final int DONE = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;
  static final int NOT_FOUND = 3;
  static final int CONFLICT = 4;
  static final int UNREACHABLE = 5;

  private ExitCode() {}

  /** {@return the exit code for the status of an answer} */
  static int of(int status) {
    return switch (status) {
      case 404 -> NOT_FOUND;
      case 409, 412 -> CONFLICT;
      default -> status >= 200 && status < 300 ? DONE : FAILED;
    };
  }
}
