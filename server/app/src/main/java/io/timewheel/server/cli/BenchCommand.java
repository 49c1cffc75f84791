// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.timewheel.api.BatchItem;
import io.timewheel.api.BatchRequest;
import io.timewheel.api.BulkRequest;
import io.timewheel.api.TimerRequest;
import io.timewheel.server.cli.ApiClient.Call;
import io.timewheel.server.json.JsonReader;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Measures how many timers per second a server accepts, from the view of its clients. */
@Command(
    name = "bench",
    description = {
      "Create timers that are due tomorrow, print the rates, and cancel them.",
      "The timers are created in batches, then one by one. Do not load a server in use."
    })
final class BenchCommand extends ClientCommand implements Callable<Integer> {
  private static final int MAX_BATCH = 1_000;
  private static final int REPORTS = 5;
  private static final int TIMEOUT_SECONDS = 10;
  private static final int CANCEL_SECONDS = 20;

  private static final BulkRequest EVERYTHING = new BulkRequest(BulkRequest.Filter.ALL, null, true);
  private static final TimerRequest TIMER =
      JsonReader.read(
          "{\"after\":\"P1D\",\"target\":{\"queue\":\"bench\"},\"payload\":\"%s0123\"}"
              .formatted("0123456789".repeat(6)),
          TimerRequest.class);

  @Option(
      names = "--timers",
      paramLabel = "N",
      defaultValue = "100000",
      description =
          "Create this many in batches, and a tenth one by one (default: ${DEFAULT-VALUE}).")
  private int timers;

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "32",
      description = "Send this many concurrent requests (default: ${DEFAULT-VALUE}).")
  private int connections;

  private final String namespace = "bench-" + UUID.randomUUID();
  private final CountDownLatch cancelled = new CountDownLatch(1);
  private @Nullable PrintWriter err;

  /** True if no further call may start. */
  private volatile boolean ended;

  /** One call, whose time is measured. */
  private interface Step {
    void run(int number);
  }

  @Override
  public Integer call() throws InterruptedException {
    Globals globals = globals();
    if (timers < MAX_BATCH || connections < 1 || connections > 1_000) {
      throw globals.usage("expected: --timers of 1000 or more, --connections of 1 to 1000");
    }
    ApiClient client = globals.client();
    err = globals.err();
    say("the timers are in the namespace " + namespace);
    ObjectNode result = ApiClient.JSON.createObjectNode();
    ArrayNode rows = result.putArray("results");
    Thread hook = new Thread(() -> end(client), "timewheel-bench");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      int batches = timers / MAX_BATCH;
      String batchPath = ApiClient.timers(namespace) + ":batch";
      rows.add(
          measure(
              "in batches of 1,000",
              batches,
              MAX_BATCH,
              number -> client.call(Call.post(batchPath, batch(number)))));
      rows.add(
          measure(
              "one by one",
              timers / 10,
              1,
              number ->
                  client.call(
                      Call.of("PUT", ApiClient.timer(namespace, "s" + number)).with(TIMER))));
    } finally {
      cancel(client);
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // the hook runs already, and has waited for this thread
      }
    }
    globals
        .printer()
        .rows(result, rows.values(), "what", "timers", "perSecond", "p50Millis", "p99Millis");
    return ExitCode.DONE;
  }

  /** Keeps the process alive, after it was told to stop, until the timers are cancelled. */
  private void end(ApiClient client) {
    ended = true;
    try {
      if (!cancelled.await(TIMEOUT_SECONDS + CANCEL_SECONDS, SECONDS)) {
        sayHowToCancel(client);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void cancel(ApiClient client) {
    say("cancelling them");
    try {
      client.call(Call.post(cancelPath(), EVERYTHING));
    } catch (CommandException e) {
      sayHowToCancel(client);
      throw e;
    } finally {
      cancelled.countDown();
    }
  }

  private void sayHowToCancel(ApiClient client) {
    say(
        "the timers may still exist; to cancel them:%n  curl -X POST '%s' -H 'Content-Type: application/json' -d '%s'"
            .formatted(client.url(cancelPath()), ApiClient.JSON.writeValueAsString(EVERYTHING)));
  }

  private String cancelPath() {
    return ApiClient.timers(namespace) + ":cancel";
  }

  private void say(String what) {
    if (err != null) {
      err.println("timewheel: " + what);
      err.flush();
    }
  }

  private ObjectNode measure(String what, int calls, int timersPerCall, Step step)
      throws InterruptedException {
    long[] nanos = new long[calls];
    AtomicInteger next = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(connections, calls));
    long beganNanos = System.nanoTime();
    try {
      List<Future<?>> workers = new ArrayList<>();
      for (int i = 0; i < Math.min(connections, calls); i++) {
        workers.add(
            threads.submit(
                () -> {
                  for (int number = next.getAndIncrement();
                      number < calls && !ended;
                      number = next.getAndIncrement()) {
                    long before = System.nanoTime();
                    step.run(number);
                    nanos[number] = System.nanoTime() - before;
                    if ((number + 1) % Math.max(1, calls / REPORTS) == 0) {
                      say("%s: %,d of %,d calls".formatted(what, number + 1, calls));
                    }
                  }
                }));
      }
      for (Future<?> worker : workers) {
        worker.get();
      }
    } catch (ExecutionException e) {
      ended = true;
      if (e.getCause() instanceof CommandException refusal) {
        throw refusal;
      }
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getCause()));
    } finally {
      // Calls in progress still create timers. These are cancelled after their answers.
      threads.shutdown();
      if (!threads.awaitTermination(TIMEOUT_SECONDS, SECONDS)) {
        threads.shutdownNow();
      }
    }
    if (ended) {
      throw new CommandException(ExitCode.FAILED, "interrupted");
    }
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    Arrays.sort(nanos);
    ObjectNode row = ApiClient.JSON.createObjectNode();
    row.put("what", what);
    row.put("timers", calls * timersPerCall);
    row.put("perSecond", Math.round(calls * timersPerCall / seconds));
    row.put("p50Millis", millis(nanos[calls / 2]));
    row.put("p99Millis", millis(nanos[Math.min(calls - 1, calls * 99 / 100)]));
    return row;
  }

  private static double millis(long nanos) {
    return Math.round(nanos / 1e4) / 100.0;
  }

  private static BatchRequest batch(int number) {
    return new BatchRequest(
        IntStream.range(0, MAX_BATCH)
            .mapToObj(i -> BatchItem.of("b" + number + "-" + i, TIMER))
            .toList());
  }
}
