// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.MoveRequest;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Shows timers and changes them. */
@Command(
    name = "timers",
    description = "Create, show and change timers.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel timers create shop order-42 --after 30m --queue unpaid",
      "  timewheel timers get shop order-42",
      "  timewheel timers list shop --state failed",
      "  timewheel timers move shop order-42 --after 10m",
      "  timewheel timers cancel shop order-42"
    })
final class TimersCommand extends ClientCommand {
  /** A timer. */
  static final class Key {
    @Parameters(index = "0", paramLabel = "NAMESPACE", description = "Namespace of the timer.")
    private String namespace = "";

    @Parameters(index = "1", paramLabel = "ID", description = "ID of the timer.")
    private String id = "";

    String path() {
      return ApiClient.timer(namespace, id);
    }
  }

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
  int create(@Mixin Key timer, @Mixin TimerOptions options) {
    return print(put(timer, options).withHeader("If-None-Match", "*"));
  }

  @Command(
      name = "put",
      description = "Create a timer, or replace the timer with its ID.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  timewheel timers put shop order-42 --after 30m --queue unpaid",
        "  timewheel timers put shop report --every 1h --queue reports --if-version 7"
      })
  int put(
      @Mixin Key timer,
      @Mixin TimerOptions options,
      @Option(
              names = "--if-version",
              paramLabel = "VERSION",
              description = "Replace only this version; exit with 4 otherwise.")
          @Nullable Long version) {
    Call call = put(timer, options);
    return print(version == null ? call : call.withHeader("If-Match", "\"" + version + "\""));
  }

  private Call put(Key timer, TimerOptions options) {
    return Call.of("PUT", timer.path()).with(options.timer(globals()));
  }

  /**
   * Prints the answer to a change. Only JSON contains the attempts, because {@code get} shows them.
   */
  private int print(Call call) {
    JsonNode answer = globals().client().call(call);
    Printer printer = globals().printer();
    if (!printer.isJson() && answer instanceof ObjectNode timer) {
      timer.remove("attempts");
    }
    printer.fields(answer);
    return ExitCode.DONE;
  }

  @Command(name = "get", description = "Show a timer with its attempts.")
  int get(@Mixin Key timer) {
    return show(Call.get(timer.path()));
  }

  @Command(name = "list", description = "List timers (default: unfinished ones).")
  int list(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Mixin FilterOptions filter,
      @Option(
              names = "--target",
              paramLabel = "KIND",
              description = "List only this kind of target: queue, url.")
          @Nullable String target,
      @Option(
              names = "--order-by",
              paramLabel = "FIELD",
              description = "Sort by created, due or id (default: id).")
          @Nullable String orderBy,
      @Option(
              names = "--order",
              paramLabel = "ORDER",
              description = "Sort asc or desc (default: asc).")
          @Nullable String order,
      @Option(names = "--payload", description = "Show payloads.") boolean payload,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "100",
              description = "List at most this many (default: ${DEFAULT-VALUE}, 0: all).")
          int limit) {
    if (limit < 0) {
      throw globals().usage("--limit: " + limit + " (expected: 0 or more)");
    }
    String path = filter.of(ApiClient.timers(namespace));
    path = ApiClient.with(path, "target", target);
    path = ApiClient.with(path, "orderBy", orderBy);
    path = ApiClient.with(path, "order", order);
    path = ApiClient.with(path, "payload", payload ? "true" : null);
    ObjectNode whole = Pages.read(globals().client(), path, "timers", limit);
    Printer printer = globals().printer();
    printer.rows(
        whole, whole.get("timers"), "id", "state", "dueAt", "attempt", "target", "lastError");
    if (whole.has("nextPageToken")) {
      printer.line("… and more: --limit 0 shows all");
    }
    return ExitCode.DONE;
  }

  @Command(
      name = "cancel",
      description = "Cancel a timer, or all that match a filter.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  timewheel timers cancel shop order-42",
        "  timewheel timers cancel shop --prefix cart- --expect 12"
      })
  int cancel(@Mixin BulkOptions options) {
    String id = options.id;
    Call one = id == null ? null : Call.of("DELETE", ApiClient.timer(options.namespace, id));
    return change(one, "cancel", options);
  }

  @Command(name = "move", description = "Move a timer to another time.")
  int move(@Mixin Key timer, @ArgGroup(multiplicity = "1") TimerOptions.Once to) {
    return verb(timer, "move", new MoveRequest(to.at, to.after));
  }

  @Command(name = "run", description = "Run a timer now; a recurring timer keeps its schedule.")
  int run(@Mixin Key timer) {
    return verb(timer, "run", Map.of());
  }

  @Command(name = "pause", description = "Pause a timer, or all that match a filter.")
  int pause(@Mixin BulkOptions options) {
    return verb("pause", options);
  }

  @Command(name = "resume", description = "Resume a timer, or all that match a filter.")
  int resume(@Mixin BulkOptions options) {
    return verb("resume", options);
  }

  @Command(name = "retry", description = "Retry a failed timer, or all that match a filter.")
  int retry(@Mixin BulkOptions options) {
    return verb("retry", options);
  }

  private int verb(String verb, BulkOptions options) {
    String id = options.id;
    String timer = id == null ? null : ApiClient.timer(options.namespace, id);
    return change(timer == null ? null : Call.post(timer + ":" + verb, Map.of()), verb, options);
  }

  /** Changes one timer or, without an ID, all timers that match the options. */
  private int change(@Nullable Call one, String verb, BulkOptions options) {
    String fault = one == null ? options.faultWithoutId() : options.faultWithId();
    if (fault != null) {
      throw globals().usage(fault);
    }
    return print(
        one == null
            ? Call.post(ApiClient.timers(options.namespace) + ":" + verb, options.request())
            : one);
  }

  private int verb(Key timer, String verb, Object body) {
    return print(Call.post(timer.path() + ":" + verb, body));
  }
}
