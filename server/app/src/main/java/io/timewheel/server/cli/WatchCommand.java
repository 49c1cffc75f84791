// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** Shows a live view of the server, refreshed each second. Ctrl-C ends it. */
@Command(name = "watch", description = "Show firings and problems live until Ctrl-C.")
final class WatchCommand extends ClientCommand implements Callable<Integer> {
  private static final String HOME = "\u001b[H\u001b[2J";
  private static final String BOLD = "\u001b[1m";
  private static final String RED = "\u001b[31m";
  private static final String PLAIN = "\u001b[0m";
  private static final String[] BAR = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

  @Option(
      names = "--count",
      paramLabel = "N",
      defaultValue = "0",
      description = "Stop after this many views (default: 0, no limit).")
  private long count;

  @Override
  public Integer call() throws InterruptedException {
    Globals globals = globals();
    ApiClient client = globals.client();
    PrintWriter out = globals.out();
    boolean terminal = CommandLine.Help.Ansi.AUTO.enabled() && !globals.printer().isJson();
    for (long look = 1; ; look++) {
      JsonNode stats = client.call(Call.get("/v1/stats"));
      if (globals.printer().isJson()) {
        globals.printer().json(stats);
      } else if (terminal) {
        out.print(HOME + screen(stats, wheel(client)));
      } else {
        out.println(line(stats));
      }
      out.flush();
      if (look == count || out.checkError()) {
        return ExitCode.DONE;
      }
      TimeUnit.SECONDS.sleep(1);
    }
  }

  /** Reads the wheel. The view works without it, if the server cannot return it. */
  private static JsonNode wheel(ApiClient client) {
    try {
      return client.call(Call.get("/v1/wheel"));
    } catch (CommandException e) {
      if (e.exitCode() == ExitCode.NOT_FOUND) {
        return MissingNode.getInstance();
      }
      throw e;
    }
  }

  /** Returns a line for a log or a pipe. */
  static String line(JsonNode stats) {
    return "%s  fired %s/s  failed %s/s  scheduled %s/s  lag p99 %s  overdue %s"
        .formatted(
            text(stats, "now"),
            text(stats.path("rates"), "fired"),
            text(stats.path("rates"), "failed"),
            text(stats.path("rates"), "scheduled"),
            text(stats.path("lag"), "p99"),
            text(stats, "overdue"));
  }

  /** Returns the whole screen. */
  static String screen(JsonNode stats, JsonNode wheel) {
    StringBuilder screen = new StringBuilder();
    screen.append(BOLD).append("Timewheel").append(PLAIN).append("  ").append(text(stats, "now"));
    screen.append(stats.path("storeAvailable").asBoolean(true) ? "" : RED + "  no store" + PLAIN);
    screen.append("\n\n");
    screen.append(
        "fired      %8s/s     lag p50  %s%n"
            .formatted(text(stats.path("rates"), "fired"), text(stats.path("lag"), "p50")));
    screen.append(
        "failed     %8s/s     lag p99  %s%n"
            .formatted(text(stats.path("rates"), "failed"), text(stats.path("lag"), "p99")));
    screen.append(
        "scheduled  %8s/s     lag max  %s%n%n"
            .formatted(text(stats.path("rates"), "scheduled"), text(stats.path("lag"), "max")));
    for (var state : stats.path("states").properties()) {
      boolean wrong = state.getKey().equals("failed") || state.getKey().equals("blocked");
      boolean some = state.getValue().asLong(0) > 0;
      screen.append(wrong && some ? RED : "");
      screen.append("%-12s %,15d".formatted(state.getKey(), state.getValue().asLong(0)));
      screen.append(wrong && some ? PLAIN : "").append('\n');
    }
    screen.append('\n');
    for (JsonNode level : wheel.path("levels")) {
      screen.append("%-7s ".formatted(text(level, "name"))).append(bars(level.path("counts")));
      screen.append('\n');
    }
    return screen.toString();
  }

  /**
   * Returns a bar for each slot, at most 60: in a longer level, neighbouring slots are added up.
   */
  private static String bars(JsonNode counts) {
    int width = Math.min(60, counts.size());
    long[] sums = new long[width];
    long most = 1;
    for (int i = 0; i < counts.size(); i++) {
      int at = (int) ((long) i * width / counts.size());
      sums[at] += counts.get(i).asLong(0);
      most = Math.max(most, sums[at]);
    }
    StringBuilder bars = new StringBuilder();
    for (long sum : sums) {
      bars.append(sum == 0 ? BAR[0] : BAR[1 + (int) (sum * (BAR.length - 2) / most)]);
    }
    return bars.toString();
  }

  private static String text(JsonNode object, String field) {
    return Printer.clean(object.path(field).asString("–"));
  }
}
