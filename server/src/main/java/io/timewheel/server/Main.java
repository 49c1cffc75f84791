// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.server.cli.Timewheel;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.util.Map;
import picocli.CommandLine;

/** The program {@code timewheel}. */
public final class Main {
  private static final int WRONG_USAGE = 2;

  private Main() {}

  /**
   * Runs the program.
   *
   * @param args its arguments
   */
  public static void main(String[] args) {
    System.exit(run(System.getenv(), args));
  }

  private static int run(Map<String, String> environment, String[] args) {
    try {
      return commandLine(Settings.read(environment)).execute(args);
    } catch (IOException e) {
      System.err.println("timewheel: " + Settings.FILE + ": " + e.getMessage());
      return WRONG_USAGE;
    }
  }

  static CommandLine commandLine(Settings settings) {
    CommandLine line =
        Timewheel.commandLine(
            Map.of("serve", new ServeCommand(), "config", new ConfigCommand(settings)));
    return line.setDefaultValueProvider(settings);
  }
}
