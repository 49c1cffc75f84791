// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.cli.serve.ConfigCommand;
import io.timewheel.server.cli.serve.ServeCommand;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The entry point of the command {@code timewheel}. */
public final class Main {
  private static final int OUTPUT_FAILED = 1;
  private static final int WRONG_USAGE = 2;
  private static final int MOST_THREADS = 200;
  private static final long TIMEOUT_MILLIS = 100;

  private Main() {}

  /** Runs the command, and exits with its exit code. */
  public static void main(String[] args) {
    int exitCode = run(System.getenv(), args);
    endHttpClients();
    System.exit(exitCode);
  }

  /**
   * Stops the threads of HTTP clients before the JVM exits. At its exit, the JVM waits 300 ms for
   * threads in native code. The selector thread of an HTTP client is always in native code. Java 17
   * cannot close such a client. Without this call, each command takes 300 ms longer.
   */
  private static void endHttpClients() {
    Thread[] threads = new Thread[MOST_THREADS];
    int count = Thread.enumerate(threads);
    for (int i = 0; i < count; i++) {
      if (threads[i].getName().endsWith("-SelectorManager")) {
        threads[i].interrupt();
        try {
          threads[i].join(TIMEOUT_MILLIS);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  private static int run(Map<String, String> environment, String[] args) {
    try {
      CommandLine line = commandLine(environment);
      int exitCode = line.execute(args);
      // Neither stream throws: a full disk would look like success.
      boolean isWritten = !line.getOut().checkError() && !System.out.checkError();
      if (!isWritten && exitCode == 0) {
        System.err.println("timewheel: the output could not be written");
        return OUTPUT_FAILED;
      }
      return exitCode;
    } catch (IOException e) {
      System.err.println("timewheel: " + Settings.FILE + ": " + CommandException.reason(e));
      return WRONG_USAGE;
    }
  }

  /** {@return the command line, with the settings of its environment} */
  public static CommandLine commandLine(Map<String, String> environment) throws IOException {
    CommandLine line = Timewheel.commandLine(new ServeCommand(), new ConfigCommand());
    CommandSpec serve = requireNonNull(line.getSubcommands().get("serve")).getCommandSpec();
    return line.setDefaultValueProvider(Settings.read(environment, serve.options()));
  }
}
