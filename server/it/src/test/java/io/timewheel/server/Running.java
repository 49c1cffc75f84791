// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.DurableTimerBuilder;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.server.security.AuditLog;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.HostLimits;
import io.timewheel.server.webhook.SecretSource;
import io.timewheel.server.webhook.WebhookClient;
import io.timewheel.server.webhook.WebhookHandler;
import io.timewheel.server.webhook.WebhookSecrets;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A server on a free port, with timers in memory, and a client for it. */
final class Running implements AutoCloseable {
  static final JsonMapper MAPPER = JsonMapper.builder().build();

  final InMemoryTimerStore store = InMemoryTimerStore.create();
  final DurableTimer scheduler;
  final TimewheelServer server;
  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final @Nullable WebhookClient webhooks;

  Running() {
    this(config -> config);
  }

  Running(UnaryOperator<ServerConfig> settings) {
    this(settings, null, null, AddressPolicy.admitting(List.of()), InstantSource.system());
  }

  Running(UnaryOperator<ServerConfig> settings, InstantSource clock) {
    this(settings, null, null, AddressPolicy.admitting(List.of()), clock);
  }

  Running(UnaryOperator<ServerConfig> settings, Tokens tokens) {
    this(settings, tokens, null, AddressPolicy.admitting(List.of()), InstantSource.system());
  }

  /** With an audit log. */
  Running(AuditLog audit) {
    this(
        config -> config,
        null,
        null,
        AddressPolicy.admitting(List.of()),
        InstantSource.system(),
        Limits.none(),
        audit);
  }

  /** With tokens and limits of namespaces. */
  Running(Tokens tokens, Limits limits) {
    this(
        config -> config,
        tokens,
        null,
        AddressPolicy.admitting(List.of()),
        InstantSource.system(),
        limits);
  }

  /** With tokens and webhook secrets. */
  Running(Tokens tokens, WebhookSecrets secrets) {
    this(
        config -> config,
        tokens,
        secrets,
        AddressPolicy.admitting(List.of()),
        InstantSource.system());
  }

  /** Calls webhooks. */
  Running(WebhookSecrets secrets, AddressPolicy policy) {
    this(config -> config, null, secrets, policy, InstantSource.system());
  }

  /** With limits of queues and hosts. */
  Running(WebhookSecrets secrets, AddressPolicy policy, Limits limits) {
    this(config -> config, null, secrets, policy, InstantSource.system(), limits);
  }

  private Running(
      UnaryOperator<ServerConfig> settings,
      @Nullable Tokens tokens,
      @Nullable WebhookSecrets secrets,
      AddressPolicy policy,
      InstantSource clock) {
    this(settings, tokens, secrets, policy, clock, Limits.none());
  }

  private Running(
      UnaryOperator<ServerConfig> settings,
      @Nullable Tokens tokens,
      @Nullable WebhookSecrets secrets,
      AddressPolicy policy,
      InstantSource clock,
      Limits limits) {
    this(settings, tokens, secrets, policy, clock, limits, new AuditLog(System::nanoTime));
  }

  private Running(
      UnaryOperator<ServerConfig> settings,
      @Nullable Tokens tokens,
      @Nullable WebhookSecrets secrets,
      AddressPolicy policy,
      InstantSource clock,
      Limits limits,
      AuditLog audit) {
    ServerConfig config = settings.apply(ServerConfig.loopback(0));
    try {
      server =
          TimewheelServer.start(
              config, tokens, secrets == null ? SecretSource.NONE : secrets, limits, clock, audit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    HostLimits hosts = new HostLimits(limits);
    DurableTimerBuilder builder = DurableTimer.builder(server.watch("memory", store)).clock(clock);
    webhooks = secrets == null ? null : WebhookClient.start(policy, secrets, clock);
    if (webhooks != null) {
      new WebhookHandler(webhooks, clock, server.meters(), hosts).addTo(builder);
    }
    builder.queueLimits(queue -> limits.queue(queue.namespace(), queue.id()));
    scheduler = builder.start();
    hosts.serve(scheduler);
    server.serve(scheduler);
  }

  /** Makes a file with a secret, and opens it. */
  static WebhookSecrets secrets(Path directory, String name) {
    Path file = directory.resolve("secrets");
    try {
      Files.writeString(file, name + " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
      return WebhookSecrets.open(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** An answer with its body. */
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

  /** Sends raw bytes, and returns everything that the server sends until it closes. */
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
    if (webhooks != null) {
      webhooks.close(); // requests in progress fail, and need no wait
    }
    scheduler.close();
  }
}
