// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.ClaimRequest;
import io.timewheel.api.LeaseRequest;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.settings.ExitCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Acts as a consumer of a queue, for manual use. */
@Command(
    name = "queues",
    description = "List, pause and resume queues; claim, ack and nack firings.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel queues list shop",
      "  timewheel queues claim shop unpaid --lease-duration 30s --wait 20s",
      "  timewheel queues ack shop FIREID --lease-token TOKEN",
      "  timewheel queues nack shop FIREID --lease-token TOKEN \\",
      "      --error 'no stock' --after 5m"
    })
final class QueuesCommand extends ClientCommand {
  @Command(name = "list", description = "List the queues of a namespace.")
  int list(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the queue.")
          String namespace) {
    Pages.print(
        globals(),
        queues(namespace),
        "queues",
        "name",
        "ready",
        "oldestReadyAt",
        "running",
        "waitingClaims",
        "paused");
    return ExitCode.DONE;
  }

  @Command(name = "pause", description = "Pause a queue; claims take nothing until it is resumed.")
  int pause(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the queue.")
          String namespace,
      @Parameters(paramLabel = "QUEUE", description = "Name of the queue.") String queue) {
    return change(namespace, queue, "pause");
  }

  @Command(name = "resume", description = "Resume a queue; claims take its ready timers.")
  int resume(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the queue.")
          String namespace,
      @Parameters(paramLabel = "QUEUE", description = "Name of the queue.") String queue) {
    return change(namespace, queue, "resume");
  }

  private int change(String namespace, String queue, String verb) {
    String path = queues(namespace) + "/" + ApiClient.segment(queue) + ":" + verb;
    return show(Call.post(path, Map.of()));
  }

  private static String queues(String namespace) {
    return "/v1/namespaces/" + ApiClient.segment(namespace) + "/queues";
  }

  @Command(name = "claim", description = "Claim ready timers, and wait for them.")
  int claim(
      @Parameters(paramLabel = "NAMESPACE", description = "Namespace of the queue.")
          String namespace,
      @Parameters(paramLabel = "QUEUE", description = "Name of the queue.") String queue,
      @Option(
              names = "--max",
              paramLabel = "N",
              defaultValue = "1",
              description = "Claim at most this many (default: 1, max: 1000).")
          int max,
      @Option(
              names = "--lease-duration",
              paramLabel = "DURATION",
              defaultValue = "30s",
              description = "Lease claimed timers this long (default: 30s, max: 12h).")
          Duration leaseDuration,
      @Option(
              names = "--wait",
              paramLabel = "DURATION",
              defaultValue = "20s",
              description = "Wait up to this long (default: 20s, max: 1m).")
          Duration wait) {
    JsonNode answer =
        globals()
            .client()
            .call(
                Call.post(
                    queues(namespace) + "/" + ApiClient.segment(queue) + "/firings:claim",
                    new ClaimRequest(max, leaseDuration, wait)));
    List<JsonNode> rows = new ArrayList<>();
    answer.path("firings").forEach(rows::add);
    if (rows.isEmpty()) {
      globals().printer().line("no timer is due");
    }
    if (globals().printer().isJson()) {
      globals().printer().json(answer);
    } else {
      rows.forEach(globals().printer()::fields); // a lease token that is cut off cannot be used
    }
    return ExitCode.DONE;
  }

  @Command(
      name = "ack",
      description = "Report a successful attempt, and end its claim lease.",
      footerHeading = "%nExamples:%n",
      footer = "  timewheel queues ack shop FIREID --lease-token TOKEN")
  int ack(@Mixin Firing firing) {
    return end(firing, "ack", new LeaseRequest.Ack(firing.leaseToken));
  }

  @Command(
      name = "nack",
      description = "Report a failed attempt; the timer is retried.",
      footerHeading = "%nExamples:%n",
      footer = {
        "  timewheel queues nack shop FIREID --lease-token TOKEN \\",
        "      --error 'no stock' --after 5m"
      })
  int nack(
      @Mixin Firing firing,
      @Option(
              names = "--error",
              paramLabel = "TEXT",
              description = "Record this cause of the failure.")
          @Nullable String error,
      @Option(
              names = "--after",
              paramLabel = "DURATION",
              description = "Retry after this delay (default: the timer's backoff).")
          @Nullable Duration after) {
    return end(firing, "nack", new LeaseRequest.Nack(firing.leaseToken, error, after));
  }

  @Command(name = "extend", description = "Extend a claim lease.")
  int extend(
      @Mixin Firing firing,
      @Option(
              names = "--lease-duration",
              paramLabel = "DURATION",
              required = true,
              description = "Lease the timer this long from now (max: 12h).")
          Duration leaseDuration) {
    return end(firing, "extend", new LeaseRequest.Extend(firing.leaseToken, leaseDuration));
  }

  /** A claimed firing. */
  static final class Firing {
    @Parameters(index = "0", paramLabel = "NAMESPACE", description = "Namespace of the queue.")
    private String namespace = "";

    @Parameters(index = "1", paramLabel = "FIREID", description = "ID of the firing.")
    private String id = "";

    @Option(
        names = "--lease-token",
        paramLabel = "TOKEN",
        required = true,
        description = "Token of the claim lease.")
    private String leaseToken = "";
  }

  private int end(Firing firing, String verb, LeaseRequest body) {
    String path =
        "/v1/namespaces/%s/firings/%s:%s"
            .formatted(ApiClient.segment(firing.namespace), ApiClient.segment(firing.id), verb);
    return show(Call.post(path, body));
  }
}
