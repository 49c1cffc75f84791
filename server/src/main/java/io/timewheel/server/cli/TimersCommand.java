// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.MoveRequest;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
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
final class TimersCommand {
  private static final int PAGE = 1_000;

  @ParentCommand private @Nullable Timewheel root;

  private Globals globals() {
    return Timewheel.globalsOf(root);
  }

  /** The new time of a timer. */
  static final class To {
    @Option(
        names = "--at",
        paramLabel = "INSTANT",
        description = "Fire at this instant, such as 2026-12-01T09:00:00Z.")
    private @Nullable Instant at;

    @Option(
        names = "--after",
        paramLabel = "DURATION",
        description = "Fire after this delay, such as 30m.")
    private @Nullable Duration after;
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
  int create(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Parameters(paramLabel = "ID", description = "ID of the timer.") String id,
      @Mixin TimerOptions options) {
    return print(put(namespace, id, options).withHeader("If-None-Match", "*"));
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
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Parameters(paramLabel = "ID", description = "ID of the timer.") String id,
      @Mixin TimerOptions options,
      @Option(
              names = "--if-version",
              paramLabel = "VERSION",
              description = "Replace only this version; exit with 4 otherwise.")
          @Nullable Long version) {
    Call call = put(namespace, id, options);
    return print(version == null ? call : call.withHeader("If-Match", "\"" + version + "\""));
  }

  private Call put(String namespace, String id, TimerOptions options) {
    return Call.of("PUT", ApiClient.timer(namespace, id)).with(options.timer(globals()));
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
  int get(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Parameters(paramLabel = "ID", description = "ID of the timer.") String id) {
    globals().printer().fields(globals().client().call(Call.get(ApiClient.timer(namespace, id))));
    return ExitCode.DONE;
  }

  @Command(name = "list", description = "List timers (default: unfinished ones).")
  int list(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Option(
              names = "--state",
              paramLabel = "STATE",
              description = "List only these states, or all (default: unfinished).")
          @Nullable String state,
      @Option(
              names = "--prefix",
              paramLabel = "TEXT",
              description = "List only IDs with this prefix.")
          @Nullable String prefix,
      @Option(
              names = "--due-from",
              paramLabel = "INSTANT",
              description = "List only timers due from this instant on.")
          @Nullable String dueFrom,
      @Option(
              names = "--due-to",
              paramLabel = "INSTANT",
              description = "List only timers due before this instant.")
          @Nullable String dueTo,
      @Option(
              names = "--handler",
              paramLabel = "NAME",
              description = "List only timers of this handler.")
          @Nullable String handler,
      @Option(
              names = "--queue",
              paramLabel = "QUEUE",
              description = "List only timers of this queue.")
          @Nullable String queue,
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
    StringBuilder query = new StringBuilder();
    parameter(query, "state", state);
    parameter(query, "prefix", prefix);
    parameter(query, "dueFrom", dueFrom);
    parameter(query, "dueTo", dueTo);
    parameter(query, "handler", handler);
    parameter(query, "queue", queue);
    parameter(query, "target", target);
    parameter(query, "orderBy", orderBy);
    parameter(query, "order", order);
    parameter(query, "payload", payload ? "true" : null);
    ApiClient client = globals().client();
    ObjectNode whole = ApiClient.JSON.createObjectNode();
    ArrayNode timers = whole.putArray("timers");
    String page = null;
    do {
      int size = limit == 0 ? PAGE : Math.min(PAGE, limit - timers.size());
      StringBuilder path = new StringBuilder(query);
      parameter(path, "pageSize", Integer.toString(size));
      parameter(path, "pageToken", page);
      JsonNode answer =
          client.call(
              Call.get("/v1/namespaces/" + ApiClient.segment(namespace) + "/timers" + path));
      answer.path("timers").forEach(timers::add);
      page = answer.path("nextPageToken").asString(null);
    } while (page != null && (limit == 0 || timers.size() < limit));
    if (page != null) {
      whole.put("nextPageToken", page);
    }
    List<JsonNode> rows = new ArrayList<>();
    timers.forEach(rows::add);
    globals().printer().rows(whole, rows, "id", "state", "dueAt", "attempt", "target", "lastError");
    if (page != null) {
      globals().printer().line("… and more: --limit 0 shows all");
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
  int move(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Parameters(paramLabel = "ID", description = "ID of the timer.") String id,
      @ArgGroup(multiplicity = "1") To to) {
    return verb(namespace, id, "move", new MoveRequest(to.at, to.after));
  }

  @Command(name = "run", description = "Run a timer now; a recurring timer keeps its schedule.")
  int run(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the timer.")
          String namespace,
      @Parameters(paramLabel = "ID", description = "ID of the timer.") String id) {
    return verb(namespace, id, "run", Map.of());
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
            ? Call.post(
                "/v1/namespaces/" + ApiClient.segment(options.namespace) + "/timers:" + verb,
                options.request())
            : one);
  }

  private int verb(String namespace, String id, String verb, Object body) {
    return print(Call.post(ApiClient.timer(namespace, id) + ":" + verb, body));
  }

  private static void parameter(StringBuilder query, String name, @Nullable String value) {
    if (value != null) {
      query
          .append(query.isEmpty() ? '?' : '&')
          .append(name)
          .append('=')
          .append(ApiClient.segment(value));
    }
  }
}
