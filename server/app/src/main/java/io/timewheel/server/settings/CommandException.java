// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.settings;

import io.timewheel.durable.spi.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Thrown if a command fails. Its message is one line with the reason. */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CommandException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /** {@return the refusal of a command line or setting} */
  public static CommandException wrongUsage(String message) {
    return new CommandException(ExitCode.USAGE, message);
  }

  public int exitCode() {
    return exitCode;
  }

  /**
   * Returns the reason of a failure. An expected exception explains itself in its message. For any
   * other exception, the name of its class is added.
   */
  public static String reason(Throwable error) {
    Throwable cause = error instanceof UncheckedIOException ? error.getCause() : null;
    if (cause != null) {
      return reason(cause);
    }
    String message = error.getMessage();
    if (message == null) {
      return error.toString();
    }
    if (error instanceof FileSystemException file && file.getReason() == null) { // only a path
      return error instanceof NoSuchFileException
          ? message + ": there is no such file"
          : error instanceof AccessDeniedException
              ? message + ": access is denied"
              : error.toString();
    }
    boolean foreseen =
        error instanceof IOException
            || error instanceof StoreException
            || error instanceof IllegalArgumentException;
    return foreseen ? message : error.toString();
  }
}
