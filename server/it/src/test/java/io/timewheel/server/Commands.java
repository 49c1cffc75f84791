// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.server.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import picocli.CommandLine;

/** Runs a command in the JVM of the test, which takes no second for the start of a process. */
final class Commands {
  private Commands() {}

  /** The exit code and the output of a command. */
  record Ended(int exitCode, String out, String err) {}

  static Ended run(Map<String, String> environment, String... words) throws IOException {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine(environment);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int exitCode = line.execute(words);
    return new Ended(exitCode, out.toString(), err.toString());
  }
}
