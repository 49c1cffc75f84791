// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Creates a timer, or replaces it. */
@Command(
    name = "put",
    description = "Create a timer, or replace the one with that ID.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel timers put shop order-42 --after 30m --queue unpaid",
      "  timewheel timers put shop report --every 1h --queue reports --if-version 7"
    })
final class PutCommand implements Callable<Integer> {
  @ParentCommand private @Nullable TimersCommand timers;

  @Parameters(paramLabel = "NAMESPACE")
  private String namespace = "";

  @Parameters(paramLabel = "ID")
  private String id = "";

  @Mixin private TimerOptions options = new TimerOptions();

  @Option(
      names = "--if-version",
      paramLabel = "VERSION",
      description = "Replace only this version; exit with 4 otherwise.")
  private @Nullable Long version;

  @Override
  public Integer call() {
    Globals globals = TimersCommand.globalsOf(timers);
    Call call = Call.of("PUT", ApiClient.timer(namespace, id)).with(options.timer(globals));
    if (version != null) {
      call = call.withHeader("If-Match", "\"" + version + "\"");
    }
    globals.printer().fields(globals.client().call(call));
    return ExitCode.DONE;
  }
}
