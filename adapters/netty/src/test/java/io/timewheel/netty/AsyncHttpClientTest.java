// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.netty.util.Timer;
import io.timewheel.HierarchicalWheelTimer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClient;
import org.asynchttpclient.DefaultAsyncHttpClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests async-http-client on a {@link NettyTimer}, against a real server. */
@Tag("client")
class AsyncHttpClientTest {
  private final CountDownLatch testEnds = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private HttpServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/hello", exchange -> answer(exchange, "hello"));
    server.createContext(
        "/never",
        exchange -> {
          try {
            testEnds.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          exchange.close();
        });
    server.start();
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    byte[] body = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @AfterEach
  void stopServer() {
    testEnds.countDown();
    server.stop(0);
    threads.shutdown();
  }

  @Test
  void requestsAreTimedByOurTimer() throws Exception {
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      requestsAreTimedBy(new NettyTimer(timer), timer);
    }
  }

  @Test
  void requestsAreTimedByOurTimerAsNettysClass() throws Exception {
    try (HierarchicalWheelTimer timer = HierarchicalWheelTimer.create()) {
      requestsAreTimedBy(new NettyHashedWheelTimer(timer), timer);
    }
  }

  private void requestsAreTimedBy(Timer nettyTimer, HierarchicalWheelTimer timer) throws Exception {
    DefaultAsyncHttpClientConfig.Builder config =
        new DefaultAsyncHttpClientConfig.Builder()
            .setNettyTimer(nettyTimer)
            .setConnectTimeout(Duration.ofHours(1))
            .setReadTimeout(Duration.ofHours(1))
            .setRequestTimeout(Duration.ofHours(1));
    try (AsyncHttpClient client = new DefaultAsyncHttpClient(config.build())) {
      assertThat(client.prepareGet(url("/hello")).execute().get().getResponseBody())
          .isEqualTo("hello");
      assertThat(timer.stats().started()).isPositive();
      long expiredBefore = timer.stats().expired();

      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(
              () ->
                  client
                      .prepareGet(url("/never"))
                      .setRequestTimeout(Duration.ofMillis(100))
                      .execute()
                      .get())
          .withCauseInstanceOf(TimeoutException.class)
          .withMessageContaining("100");
      assertThat(timer.stats().expired()).isGreaterThan(expiredBefore);
      assertThat(NettyWorkers.running()).isEmpty();
    }
    assertThat(timer.isStopped()).as("the client stopped a timer that is not its own").isFalse();
  }

  private String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }
}
