// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.Running.Answer;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.webhook.WebhookSecrets;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which webhook secrets a caller may name. */
class SecretsOfCallersTest {
  private static final String KEY = " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";
  private static final String TIMERS = "/v1/namespaces/shop/timers";

  @TempDir private Path directory;
  private Running running;
  private String admin;
  private String producer;
  private String operator;

  @BeforeEach
  void start() throws IOException {
    Path tokens = directory.resolve("tokens");
    admin = "Bearer " + Tokens.add(tokens, "admin", "admin", Set.of());
    producer = "Bearer " + Tokens.add(tokens, "producer", "produce", Set.of());
    operator = "Bearer " + Tokens.add(tokens, "operator", "operate", Set.of());
    Path secrets = directory.resolve("secrets");
    Files.writeString(
        secrets,
        "free"
            + KEY
            + "bound host=shop.example"
            + KEY
            + "any host=*"
            + KEY
            + "crm header=Bearer abc\n"
            + "aside namespace=aside host=*"
            + KEY);
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
    running = new Running(Tokens.open(tokens), WebhookSecrets.open(secrets));
  }

  @AfterEach
  void stop() {
    running.close();
  }

  private static String body(String host, String secret, String headers) {
    return "{\"after\":\"PT1H\",\"target\":{\"url\":\"https://%s/\",\"secret\":\"%s\",\"headers\":{%s}}}"
        .formatted(host, secret, headers);
  }

  private int put(String token, String host, String secret, String headers) {
    String body = body(host, secret, headers);
    Answer answer = running.put(TIMERS + "/a", body, "Authorization", token);
    String item = "{\"timers\":[{\"id\":\"b\"," + body.substring(1) + "]}";
    int ofItem =
        running
            .post(TIMERS + ":batch", item, "Authorization", token)
            .json()
            .at("/results/0/status")
            .asInt();
    assertThat(ofItem == 422).isEqualTo(answer.status() == 422);
    return answer.status();
  }

  @Test
  void onlyAnAdministratorMayNameASecretWithoutAHost() {
    assertThat(put(producer, "shop.example", "free", "")).isEqualTo(422);
    assertThat(put(producer, "shop.example", "bound", "\"X\":{\"secret\":\"crm\"}")).isEqualTo(422);
    assertThat(put(producer, "shop.example", "bound", "\"X\":{\"secret\":\"free\"}"))
        .isEqualTo(422);
    assertThat(put(producer, "thief.example", "bound", "")).isEqualTo(422);
    assertThat(put(producer, "shop.example", "aside", "")).isEqualTo(422);
    assertThat(put(producer, "shop.example", "bound", "")).isEqualTo(201);
    assertThat(put(producer, "other.example", "any", "")).isEqualTo(200);
    assertThat(put(admin, "shop.example", "free", "\"X\":{\"secret\":\"crm\"}")).isEqualTo(200);
  }

  @Test
  void anOperatorMayNotTurnATimerToAnotherHost() {
    running.put(TIMERS + "/a", body("shop.example", "free", ""), "Authorization", admin);
    for (String patch : new String[] {"{\"target\":{\"url\":\"https://thief.example/\"}}", "{}"}) {
      Answer refused =
          running.send(
              "PATCH",
              TIMERS + "/a",
              patch,
              "Authorization",
              operator,
              "If-Match",
              "*",
              "Content-Type",
              "application/merge-patch+json");
      assertThat(refused.status()).isEqualTo(422);
      assertThat(refused.text("field")).isEqualTo("target.secret");
      assertThat(refused.text("detail")).contains("needs the role admin");
    }
  }
}
