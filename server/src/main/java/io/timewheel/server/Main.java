// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.server.cli.Timewheel;
import java.util.Map;

/** The program {@code timewheel}. */
public final class Main {
  private Main() {}

  /**
   * Runs the program.
   *
   * @param args its arguments
   */
  public static void main(String[] args) {
    System.exit(Timewheel.commandLine(Map.of("serve", new ServeCommand())).execute(args));
  }
}
