// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** Creates a timer; fails if it exists. */
@Command(
    name = "create",
    description = "Create a timer; exit with 4 if it exists.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel timers create shop order-42 --after 30m --queue unpaid",
      "  timewheel timers create shop report --cron '0 9 * * MON-FRI' \\",
      "      --zone Europe/Berlin --url https://shop.example/hooks/report \\",
      "      --secret shop --payload '{\"kind\":\"daily\"}'"
    })
final class CreateCommand implements Callable<Integer> {
  @ParentCommand private @Nullable TimersCommand timers;

  @Parameters(paramLabel = "NAMESPACE")
  private String namespace = "";

  @Parameters(paramLabel = "ID")
  private String id = "";

  @Mixin private TimerOptions options = new TimerOptions();

  @Override
  public Integer call() {
    Globals globals = TimersCommand.globalsOf(timers);
    Call call =
        Call.of("PUT", ApiClient.timer(namespace, id))
            .with(options.timer(globals))
            .withHeader("If-None-Match", "*");
    globals.printer().fields(globals.client().call(call));
    return ExitCode.DONE;
  }
}
