// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.Dsl;

/** Sends twenty requests that the server never answers, and counts the timeouts of the client. */
final class ClientApplication {
  private static final Duration LIMIT = Duration.ofMillis(200);

  private ClientApplication() {}

  public static void main(String[] arguments) throws Exception {
    // The kernel accepts the connections.
    try (ServerSocket silent = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
      if (arguments[0].equals("lettuce")) {
        answerUntilGet(silent);
        lettuce(silent.getLocalPort());
      } else {
        asyncHttpClient(silent.getLocalPort());
      }
    }
    System.exit(0);
  }

  private static void asyncHttpClient(int port) throws Exception {
    try (AsyncHttpClient client =
        Dsl.asyncHttpClient(Dsl.config().setRequestTimeout(LIMIT).setMaxRequestRetry(0))) {
      count(
          () -> client.prepareGet("http://127.0.0.1:" + port + "/").execute().toCompletableFuture(),
          TimeoutException.class);
    }
  }

  private static void lettuce(int port) {
    RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
    client.setOptions(
        ClientOptions.builder()
            .protocolVersion(ProtocolVersion.RESP2) // RESP3 begins with a request
            .pingBeforeActivateConnection(false)
            .timeoutOptions(TimeoutOptions.enabled(LIMIT))
            .build());
    StatefulRedisConnection<String, String> connection = client.connect();
    count(
        () -> connection.async().get("key").toCompletableFuture(),
        RedisCommandTimeoutException.class);
    connection.close();
    client.shutdown(0, 0, MILLISECONDS);
  }

  /** Answers the handshake of Lettuce, and then no command. */
  private static void answerUntilGet(ServerSocket server) {
    Thread answering =
        new Thread(
            () -> {
              try (Socket socket = server.accept()) {
                byte[] buffer = new byte[8192];
                int read = socket.getInputStream().read(buffer);
                while (read > 0) {
                  String text = new String(buffer, 0, read, StandardCharsets.US_ASCII);
                  if (!text.contains("GET")) {
                    long commands = text.chars().filter(letter -> letter == '*').count();
                    socket
                        .getOutputStream()
                        .write(
                            "+OK\r\n".repeat((int) commands).getBytes(StandardCharsets.US_ASCII));
                  }
                  read = socket.getInputStream().read(buffer);
                }
              } catch (IOException e) {
                // The client is gone.
              }
            });
    answering.setDaemon(true);
    answering.start();
  }

  private static void count(
      Supplier<CompletableFuture<?>> request, Class<? extends Throwable> timeout) {
    int timedOut = 0;
    int early = 0;
    List<CompletableFuture<?>> requests = new ArrayList<>();
    List<Long> starts = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      starts.add(System.nanoTime());
      requests.add(request.get());
    }
    for (int i = 0; i < 20; i++) {
      try {
        requests.get(i).join();
      } catch (CompletionException e) {
        timedOut += timeout.isInstance(e.getCause()) ? 1 : 0;
      }
      early += System.nanoTime() - starts.get(i) < LIMIT.toNanos() ? 1 : 0;
    }
    System.out.println("timed out: " + timedOut);
    System.out.println("early: " + early);
  }
}
