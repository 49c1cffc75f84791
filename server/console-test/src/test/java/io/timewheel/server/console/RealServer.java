// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.server.TimewheelServer;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** A Timewheel server with a store in memory. */
final class RealServer implements AutoCloseable {
  private final HttpClient client = HttpClient.newHttpClient();
  private final TimewheelServer server;
  private final DurableTimer scheduler;
  private final String basePath;

  RealServer(Ingress ingress) throws IOException {
    ServerConfig direct = ServerConfig.loopback(0);
    basePath = ingress.basePath();
    server =
        TimewheelServer.start(
            new ServerConfig(
                direct.listen(),
                direct.port(),
                direct.hosts(),
                ingress,
                direct.maxConnections(),
                direct.maxWaitingClaims(),
                direct.maxStreams(),
                direct.maxBodyBytes(),
                direct.maxBodyTime(),
                direct.work()));
    scheduler = DurableTimer.builder(server.watch("memory", InMemoryTimerStore.create())).start();
    server.serve(scheduler);
  }

  int port() {
    return server.port();
  }

  /** {@return the URL of the server itself, without a final slash} */
  String address() {
    return "http://127.0.0.1:" + server.port() + basePath;
  }

  /** Creates or replaces a timer without a proxy. */
  void put(String path, String json) throws IOException, InterruptedException {
    send(
        HttpRequest.newBuilder(URI.create(address() + path))
            .header("Content-Type", "application/json")
            .PUT(BodyPublishers.ofString(json)));
  }

  String get(String path) throws IOException, InterruptedException {
    return send(HttpRequest.newBuilder(URI.create(address() + path)));
  }

  private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString()).body();
  }

  @Override
  public void close() {
    scheduler.close();
    server.close();
  }
}
