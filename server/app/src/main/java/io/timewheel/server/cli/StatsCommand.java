// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Prints the figures of the server once. */
@Command(
    name = "stats",
    description = "Show timer counts, rates and lag.",
    footerHeading = "%nExamples:%n",
    footer = {"  timewheel stats", "  timewheel stats -o json"})
final class StatsCommand extends ClientCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return show(Call.get("/v1/stats"));
  }
}
