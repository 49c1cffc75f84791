// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server on a free port, with timers in memory, and a client for it. */
final class Running implements AutoCloseable {
  static final JsonMapper MAPPER = JsonMapper.builder().build();

  final InMemoryTimerStore store = InMemoryTimerStore.create();
  final DurableTimer timer;
  final TimewheelServer server;
  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Running() {
    this(config -> config);
  }

  Running(UnaryOperator<ServerConfig> settings) {
    this(settings, null, InstantSource.system());
  }

  Running(UnaryOperator<ServerConfig> settings, InstantSource clock) {
    this(settings, null, clock);
  }

  Running(UnaryOperator<ServerConfig> settings, Tokens tokens) {
    this(settings, tokens, InstantSource.system());
  }

  private Running(UnaryOperator<ServerConfig> settings, Tokens tokens, InstantSource clock) {
    try {
      server = TimewheelServer.start(settings.apply(ServerConfig.loopback(0)), tokens, clock);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    timer = DurableTimer.builder(server.watch("memory", store)).clock(clock).start();
    server.serve(timer);
  }

  /** An answer, its body read. */
  record Answer(HttpResponse<String> response) {
    int status() {
      return response.statusCode();
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse(null);
    }

    JsonNode json() {
      return MAPPER.readTree(response.body());
    }

    String text(String field) {
      JsonNode value = json().get(field);
      return value == null ? null : value.asString();
    }
  }

  /** Sends a request; headers are pairs of name and value. */
  Answer send(String method, String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .timeout(Duration.ofSeconds(60))
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (body != null) {
      request.header("Content-Type", "application/json");
    }
    for (int i = 0; i < headers.length; i += 2) {
      request.setHeader(headers[i], headers[i + 1]);
    }
    try {
      return new Answer(client.send(request.build(), BodyHandlers.ofString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  Answer get(String path, String... headers) {
    return send("GET", path, null, headers);
  }

  Answer put(String path, String body, String... headers) {
    return send("PUT", path, body, headers);
  }

  Answer post(String path, String body, String... headers) {
    return send("POST", path, body, headers);
  }

  /** Sends bytes as they are, and gives back all that comes until the server closes. */
  String raw(String request) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(60_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    server.close();
    timer.close();
  }
}
