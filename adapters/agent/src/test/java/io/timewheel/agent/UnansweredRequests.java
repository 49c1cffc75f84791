// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/**
 * Sends requests that no server answers, and prints how the client reports their timeouts.
 *
 * <p>The system property {@code requests} is the number of requests, and {@code gap} is the time
 * between two of them in milliseconds. {@code idle} is the time for which the client stays open
 * afterwards, in seconds.
 */
final class UnansweredRequests {
  /** The timeout of each request. */
  static final Duration LIMIT = Duration.ofMillis(200);

  /** Starts a request. */
  interface Request {
    CompletionStage<?> send() throws Exception;
  }

  private record Timeout(long lateNanos, boolean expected) {}

  private UnansweredRequests() {}

  /** Opens a server that never answers. The kernel accepts its connections. */
  static ServerSocket silentServer() throws IOException {
    return new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
  }

  static void send(Request request, Class<? extends Throwable> expected) throws Exception {
    List<CompletableFuture<Timeout>> timeouts = new ArrayList<>();
    for (int i = 0; i < Integer.getInteger("requests", 20); i++) {
      long start = System.nanoTime();
      timeouts.add(
          request
              .send()
              .handle(
                  (value, error) ->
                      new Timeout(System.nanoTime() - start - LIMIT.toNanos(), is(error, expected)))
              .toCompletableFuture());
      Thread.sleep(Integer.getInteger("gap", 0));
    }
    List<Timeout> results = timeouts.stream().map(CompletableFuture::join).toList();
    long[] late = results.stream().mapToLong(Timeout::lateNanos).sorted().toArray();
    System.out.println("timed out: " + results.stream().filter(Timeout::expected).count());
    System.out.println("early: " + results.stream().filter(each -> each.lateNanos < 0).count());
    System.out.println(
        String.format(
            Locale.ROOT,
            "the client is late by: p50 %.1f ms, p99 %.1f ms",
            late[late.length / 2] / 1e6,
            late[late.length * 99 / 100] / 1e6));
    Thread.sleep(1_000L * Integer.getInteger("idle", 0));
  }

  private static boolean is(Throwable error, Class<? extends Throwable> expected) {
    return expected.isInstance(error instanceof CompletionException ? error.getCause() : error);
  }
}
