// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import io.timewheel.benchmarks.results.Results;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.core.JacksonException;

/**
 * Prints the tables of a recording, or writes them into the documentation of the current checkout.
 */
public final class Report {
  private static final String USAGE = "arguments: <recording.json> [--write]";

  private Report() {}

  /**
   * Runs the program.
   *
   * @param args the file of the recording, and {@code --write} to change the documentation
   */
  public static void main(String[] args) {
    // The tables are in UTF-8, whatever encoding the terminal reports.
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    try {
      run(List.of(args), Path.of(""), out);
    } catch (IllegalArgumentException | IOException | JacksonException e) {
      System.err.println("report: " + e.getMessage());
      System.exit(1);
    }
  }

  static void run(List<String> args, Path directory, PrintStream out) throws IOException {
    boolean write = args.size() == 2 && args.get(1).equals("--write");
    if (args.size() != 1 && !write) {
      throw new IllegalArgumentException(USAGE);
    }
    Path file = directory.resolve(args.get(0));
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException("no file " + file);
    }
    Results recording = Results.read(file);
    if (write) {
      Documentation documentation = Documentation.around(directory);
      documentation.write(recording);
      out.println("Written to README.md and docs in " + documentation.root());
    } else {
      out.print(new Text(new Measurements(recording)).all());
    }
  }
}
