// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The program {@code timewheel}. */
@Command(
    name = "timewheel",
    description = "Durable timers: what was acknowledged fires, whatever is killed.",
    subcommands = ServeCommand.class,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND")
public final class Main {
  private Main() {}

  /**
   * Runs the program.
   *
   * @param args its arguments
   */
  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
  }
}
