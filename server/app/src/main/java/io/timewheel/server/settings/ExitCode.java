// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

/** The exit codes of the process. They never change, because scripts rely on them. */
public final class ExitCode {
  public static final int DONE = 0;
  public static final int FAILED = 1;
  public static final int USAGE = 2;
  public static final int NOT_FOUND = 3;
  public static final int CONFLICT = 4;
  public static final int UNREACHABLE = 5;

  private ExitCode() {}

  /** {@return the exit code for the status of an answer} */
  public static int of(int status) {
    return switch (status) {
      case 404 -> NOT_FOUND;
      case 409, 412 -> CONFLICT;
      default -> status >= 200 && status < 300 ? DONE : FAILED;
    };
  }
}
