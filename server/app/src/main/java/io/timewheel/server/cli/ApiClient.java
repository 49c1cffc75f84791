// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.ApiJson;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/** Calls a server. Each method that fails throws a {@link CommandException} with the reason. */
final class ApiClient {
  /** A mapper that keeps all digits of numbers. */
  static final JsonMapper JSON =
      ApiJson.builder(new JsonFactory())
          .enable(JsonNodeFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);

  /** The timeout of a request: longer than the longest wait of a claim. */
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(90);

  private final URI server;
  private final @Nullable String token;
  private final Duration answerTimeout;
  private final HttpClient http;

  /** A request of a command. Its body is a record or a map. */
  record Call(
      String method,
      String path,
      @Nullable Object body,
      @Nullable String headerName,
      @Nullable String headerValue) {
    static Call get(String path) {
      return new Call("GET", path, null, null, null);
    }

    static Call post(String path, Object body) {
      return new Call("POST", path, body, null, null);
    }

    static Call of(String method, String path) {
      return new Call(method, path, null, null, null);
    }

    Call with(Object record) {
      return new Call(method, path, record, headerName, headerValue);
    }

    Call withHeader(String name, String value) {
      return new Call(method, path, body, name, value);
    }
  }

  ApiClient(URI server, @Nullable String token, @Nullable SSLContext trust) {
    this(server, token, trust, ANSWER_TIMEOUT);
  }

  ApiClient(
      URI server, @Nullable String token, @Nullable SSLContext trust, Duration answerTimeout) {
    this.server = server;
    this.token = token;
    this.answerTimeout = answerTimeout;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER);
    this.http = (trust == null ? builder : builder.sslContext(trust)).build();
  }

  /** {@return a text as a segment of a path, encoded} */
  static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** {@return a path with a further parameter in its query, unless the value is null} */
  static String with(String path, String name, @Nullable Object value) {
    return value == null
        ? path
        : path + (path.contains("?") ? "&" : "?") + name + "=" + segment(value.toString());
  }

  static String timers(String namespace) {
    return "/v1/namespaces/" + segment(namespace) + "/timers";
  }

  static String timer(String namespace, String id) {
    return timers(namespace) + "/" + segment(id);
  }

  /** {@return the answer; throws if its status is not a success} */
  JsonNode call(Call call) {
    HttpResponse<byte[]> answer;
    try {
      answer = http.send(request(call), BodyHandlers.ofByteArray());
    } catch (HttpConnectTimeoutException e) {
      throw unreachable(e);
    } catch (HttpTimeoutException e) {
      throw new CommandException(
          ExitCode.FAILED,
          "%s has not answered within %s; it may still do the work"
              .formatted(server, answerTimeout));
    } catch (IOException e) {
      throw unreachable(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandException(ExitCode.FAILED, "interrupted");
    }
    if (answer.statusCode() / 100 != 2) {
      throw refused(answer);
    }
    try {
      return answer.body().length == 0 ? MissingNode.getInstance() : JSON.readTree(answer.body());
    } catch (JacksonException e) {
      throw new CommandException(
          ExitCode.FAILED, server + " does not answer as a Timewheel server: not JSON");
    }
  }

  /** {@return the URL of a path on the server} */
  String url(String path) {
    return base() + path;
  }

  private HttpRequest request(Call call) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url(call.path()))).timeout(answerTimeout);
    if (token != null) {
      request.header("Authorization", "Bearer " + token);
    }
    if (call.headerName() != null && call.headerValue() != null) {
      request.header(call.headerName(), call.headerValue());
    }
    if (call.body() == null) {
      return request.method(call.method(), BodyPublishers.noBody()).build();
    }
    return request
        .header("Content-Type", "application/json")
        .method(call.method(), BodyPublishers.ofByteArray(JSON.writeValueAsBytes(call.body())))
        .build();
  }

  private String base() {
    String text = server.toString();
    return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
  }

  /**
   * {@return the problem of an answer; null if something else refused the request, such as a proxy}
   */
  private static JsonNode problem(HttpResponse<byte[]> answer) {
    try {
      return JSON.readTree(answer.body());
    } catch (JacksonException e) {
      return MissingNode.getInstance();
    }
  }

  private CommandException unreachable(Throwable e) {
    String why = e.getMessage();
    String remedy =
        e instanceof SSLHandshakeException
            ? "trust its authority with: --ca-cert FILE"
            : "start one with: timewheel serve";
    return new CommandException(
        ExitCode.UNREACHABLE,
        "no server answers at %s%s (%s)"
            .formatted(server, why == null || why.isBlank() ? "" : ": " + why, remedy));
  }

  private static CommandException refused(HttpResponse<byte[]> answer) {
    JsonNode problem = problem(answer);
    String title = problem.path("title").asString("");
    String detail = problem.path("detail").asString("");
    String outcome = problem.path("outcome").asString("").replace('_', ' ');
    String text = detail.isEmpty() ? title.isEmpty() ? outcome : title : detail;
    if (answer.statusCode() == 401) {
      text =
          (text.isEmpty() ? "not authorized" : text) + " (the token is read from TIMEWHEEL_TOKEN)";
    }
    return new CommandException(
        ExitCode.of(answer.statusCode()), answer.statusCode() + (text.isEmpty() ? "" : " " + text));
  }
}
