// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of the webhooks guide, and sends invalid requests to its receiver. */
@Timeout(300)
class WebhooksGuideTest {
  private static final String PAGE = "guides/webhooks.md";
  private static final byte[] KEY = "0123456789abcdef01234567".getBytes(StandardCharsets.UTF_8);
  private static final String BODY = "{\"order\":42}";

  private final Path directory;
  private final int port = Tutorial.freePort();

  WebhooksGuideTest(@TempDir Path directory) throws IOException {
    this.directory = directory;
  }

  @BeforeAll
  static void assumePython() {
    Tutorial.assumeInstalled("python3");
  }

  @Test
  void everyCommandPrintsTheTextOfThePage() throws Exception {
    Tutorial.assumeInstalled("curl");
    Tutorial.assumeInstalled("openssl");
    int server = Tutorial.freePort();
    new Tutorial(PAGE, directory, Map.of(":7400", ":" + server, "8000", String.valueOf(port)))
        .follow(
            Map.of(
                "TIMEWHEEL_PORT",
                String.valueOf(server),
                "TIMEWHEEL_SERVER",
                "http://127.0.0.1:" + server));
  }

  @Test
  void theReceiverAcceptsOnlyRecentRequestsWithASignature() throws Exception {
    String script = new Tutorial(PAGE, directory).texts("python").get(0);
    Path file = directory.resolve("receiver.py");
    Files.writeString(file, script.replace("8000", String.valueOf(port)));
    Path output = directory.resolve("output");
    ProcessBuilder builder = new ProcessBuilder("python3", file.toString());
    builder.redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("SECRET", "whsec_" + Base64.getEncoder().encodeToString(KEY));
    Process receiver = builder.start();
    try {
      Instant now = Instant.now();
      Instant old = now.minus(Duration.ofHours(1));
      Instant future = now.plus(Duration.ofHours(1));
      awaitConnection(receiver);

      assertThat(post(now, "", BODY)).isEqualTo(401);
      assertThat(post(now, "v1,\u00e9", BODY)).isEqualTo(401);
      assertThat(post(now, signature(now, BODY), BODY + " ")).isEqualTo(401);
      assertThat(post(now, signature(old, BODY), BODY)).isEqualTo(401);
      assertThat(post(old, signature(old, BODY), BODY)).isEqualTo(401);
      assertThat(post(future, signature(future, BODY), BODY)).isEqualTo(401);
      assertThat(post(now, "v1,other " + signature(now, BODY), BODY)).isEqualTo(204);

      assertThat(receiver.waitFor()).isZero();
      assertThat(Files.readString(output)).contains("order-42 " + BODY);
    } finally {
      receiver.destroyForcibly().waitFor();
    }
  }

  private void awaitConnection(Process receiver) {
    Await.until(() -> !receiver.isAlive() || accepts());
  }

  private boolean accepts() throws Exception {
    try {
      post(Instant.EPOCH, "", BODY);
      return true;
    } catch (ConnectException e) {
      return false;
    }
  }

  private int post(Instant time, String signature, String body) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/hooks/orders"))
            .header("webhook-id", "1")
            .header("webhook-timestamp", String.valueOf(time.getEpochSecond()))
            .header("webhook-signature", signature)
            .header("timewheel-id", "order-42")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
  }

  private static String signature(Instant time, String body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(KEY, "HmacSHA256"));
    String content = "1." + time.getEpochSecond() + "." + body;
    byte[] code = mac.doFinal(content.getBytes(StandardCharsets.UTF_8));
    return "v1," + Base64.getEncoder().encodeToString(code);
  }
}
