// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

/** Prints the figures of the server once. */
@Command(
    name = "stats",
    description = "Show timer counts, rates and lag.",
    footerHeading = "%nExamples:%n",
    footer = {"  timewheel stats", "  timewheel stats -o json"})
final class StatsCommand implements Callable<Integer> {
  @ParentCommand private @Nullable Timewheel root;

  @Override
  public Integer call() {
    Globals globals = Timewheel.globalsOf(root);
    globals.printer().fields(globals.client().call(Call.get("/v1/stats")));
    return ExitCode.DONE;
  }
}
