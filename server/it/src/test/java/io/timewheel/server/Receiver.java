// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpHeaders;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/** Receives webhooks on a free port, and answers with a configured answer; 204 at first. */
final class Receiver implements AutoCloseable {
  final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();
  volatile Answering answering = status(204);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final HttpServer server;

  /** A received request. */
  record Call(String method, String path, HttpHeaders headers, String body) {
    String header(String name) {
      return headers.firstValue(name).orElse(null);
    }
  }

  /** Answers a request. The connection is closed afterwards. */
  interface Answering {
    void answer(HttpExchange exchange) throws IOException, InterruptedException;
  }

  Receiver() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::receive);
    server.start();
  }

  private void receive(HttpExchange exchange) throws IOException {
    try (exchange) {
      calls.add(
          new Call(
              exchange.getRequestMethod(),
              exchange.getRequestURI().toString(),
              HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true),
              new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
      answering.answer(exchange);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns an answer with a status and headers, which are pairs of name and value. */
  static Answering status(int status, String... headers) {
    return exchange -> {
      for (int i = 0; i < headers.length; i += 2) {
        exchange.getResponseHeaders().add(headers[i], headers[i + 1]);
      }
      exchange.sendResponseHeaders(status, -1);
    };
  }

  /** Returns an answer with a status and a body. */
  static Answering text(int status, String text) {
    return exchange -> {
      byte[] bytes = text.getBytes(UTF_8);
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    };
  }

  int port() {
    return server.getAddress().getPort();
  }

  String url(String path) {
    return "http://127.0.0.1:" + port() + path;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
