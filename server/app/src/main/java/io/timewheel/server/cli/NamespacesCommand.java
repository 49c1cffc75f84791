// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Lists, pauses and resumes namespaces. */
@Command(
    name = "namespaces",
    description = "List, pause and resume namespaces.",
    footerHeading = "%nExamples:%n",
    footer = {"  timewheel namespaces list", "  timewheel namespaces pause shop"})
final class NamespacesCommand extends ClientCommand {
  @Command(name = "list", description = "List the namespaces that have timers.")
  int list() {
    Pages.print(globals(), "/v1/namespaces", "namespaces", "namespace", "paused", "states");
    return ExitCode.DONE;
  }

  @Command(
      name = "pause",
      description = "Pause a namespace; no attempt starts until it is resumed.")
  int pause(
      @Parameters(paramLabel = "NAMESPACE", description = "Name of the namespace.")
          String namespace) {
    return change(namespace, "pause");
  }

  @Command(name = "resume", description = "Resume a namespace; overdue timers fire.")
  int resume(
      @Parameters(paramLabel = "NAMESPACE", description = "Name of the namespace.")
          String namespace) {
    return change(namespace, "resume");
  }

  private int change(String namespace, String verb) {
    return show(Call.post("/v1/namespaces/" + ApiClient.segment(namespace) + ":" + verb, Map.of()));
  }
}
