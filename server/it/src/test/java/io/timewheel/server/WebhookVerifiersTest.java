// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.standardwebhooks.Webhook;
import io.timewheel.server.Receiver.Call;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifies webhook messages with the verifiers of receivers, for Java and for JavaScript. */
class WebhookVerifiersTest {
  private static final String NPM_PACKAGE = "standardwebhooks@1.1.1";
  private static final String SCRIPT =
      """
      const { Webhook } = require("standardwebhooks");
      const { secret, headers, body } = JSON.parse(process.argv[1]);
      console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
      """;
  private static final String PAYLOAD =
      "{\"order\":42,\"name\":\"Z\u00fcrich \u20ac \ud83d\udd70\"}";

  @TempDir private static Path directory;
  private static Call call;

  @BeforeAll
  static void post() throws Exception {
    try (Receiver receiver = new Receiver();
        Running running =
            new Running(
                Running.secrets(directory, "shop"),
                AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.1"))))) {
      running.put(
          "/v1/namespaces/shop/timers/a",
          "{\"after\":\"PT0S\",\"payload\":%s,\"target\":{\"url\":\"%s\",\"secret\":\"shop\"}}"
              .formatted(PAYLOAD, receiver.url("/")));
      call = receiver.calls.take();
    }
  }

  @AfterAll
  static void forget() {
    call = null;
  }

  @Test
  void theJavaVerifierAcceptsTheMessageAndNoOther() throws Exception {
    assertThat(call.body()).isEqualTo(PAYLOAD);
    Webhook webhook = new Webhook(WebhooksTest.SECRET);
    assertThatCode(() -> webhook.verify(call.body(), call.headers())).doesNotThrowAnyException();
    assertThatThrownBy(() -> webhook.verify(call.body() + " ", call.headers()))
        .hasMessageContaining("signature");
  }

  @Test
  void theJavaScriptVerifierAcceptsTheMessageAndNoOther() throws Exception {
    assumeThat("node", "--version");
    assumeThat(
        "npm",
        "install",
        "--prefix",
        directory.toString(),
        "--no-save",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=0",
        NPM_PACKAGE);

    Result taken = verify(WebhooksTest.SECRET);
    assertThat(taken.status()).as(taken.output()).isZero();
    assertThat(taken.output().strip()).isEqualTo(PAYLOAD);
    Result refused = verify(WebhooksTest.NEW_SECRET);
    assertThat(refused.status()).isNotZero();
    assertThat(refused.output()).contains("No matching signature found");
  }

  private record Result(int status, String output) {}

  private static Result verify(String secret) throws Exception {
    Map<String, String> headers = new TreeMap<>();
    call.headers().map().forEach((name, values) -> headers.put(name, values.get(0)));
    Map<String, Object> received =
        Map.of("secret", secret, "headers", headers, "body", call.body());
    return run("node", "-e", SCRIPT, Running.MAPPER.writeValueAsString(received));
  }

  private static void assumeThat(String... command) throws Exception {
    Result result;
    try {
      result = run(command);
    } catch (IOException e) {
      result = new Result(-1, e.getMessage());
    }
    String why =
        "this test needs node, and npm to fetch %s: %s".formatted(NPM_PACKAGE, result.output());
    if (result.status() != 0) {
      System.err.println("SKIPPED: " + why);
    }
    assumeTrue(result.status() == 0, why);
  }

  private static Result run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return new Result(process.waitFor(), output);
  }
}
