// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.timewheel.server.cli.Main;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.server.webhook.ConfiguredSecret;
import io.timewheel.server.webhook.WebhookAnswer;
import io.timewheel.server.webhook.WebhookClient;
import io.timewheel.server.webhook.WebhookMessage;
import io.timewheel.server.webhook.WebhookSecret;
import io.timewheel.server.webhook.WebhookTarget;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Tests HTTPS requests to a server whose certificate is trusted and valid only for {@code
 * localhost}. The client has no TLS settings of its own, and uses those of the JVM.
 */
class TlsTest {
  private static final String TRUST_STORE = "javax.net.ssl.trustStore";
  private static final String PASSWORD = "changeit";
  private static final ConcurrentLinkedQueue<String> ASKED = new ConcurrentLinkedQueue<>();

  private static SSLContext before;
  private static HttpsServer server;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("keys");
    List<String> keytool = new ArrayList<>();
    keytool.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    keytool.addAll(List.of("-genkeypair", "-alias", "a", "-keyalg", "EC", "-storepass", PASSWORD));
    keytool.addAll(
        List.of("-dname", "CN=x", "-ext", "SAN=dns:localhost", "-keystore", file.toString()));
    assertThat(new ProcessBuilder(keytool).redirectError(DISCARD).start().waitFor()).isZero();
    KeyStore keys = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    KeyManagerFactory own = KeyManagerFactory.getInstance("SunX509");
    own.init(keys, PASSWORD.toCharArray());
    TrustManagerFactory trusted = TrustManagerFactory.getInstance("PKIX");
    trusted.init(keys);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(own.getKeyManagers(), trusted.getTrustManagers(), null);
    before = SSLContext.getDefault();
    SSLContext.setDefault(tls); // of the command line
    System.setProperty(TRUST_STORE, file.toString()); // of webhooks
    System.setProperty(TRUST_STORE + "Password", PASSWORD);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls));
    server.createContext(
        "/",
        exchange -> {
          ASKED.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
          byte[] answer = "{\"node\":\"node-7\"}".getBytes(UTF_8);
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
  }

  @AfterAll
  static void stop() {
    server.stop(0);
    SSLContext.setDefault(before);
    System.clearProperty(TRUST_STORE);
    System.clearProperty(TRUST_STORE + "Password");
  }

  private static String url(String host) {
    return "https://" + host + ":" + server.getAddress().getPort();
  }

  private static WebhookAnswer post(String host) throws Exception {
    List<WebhookSecret> secrets =
        List.of(WebhookSecret.parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
    try (WebhookClient client =
        WebhookClient.start(
            AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"))),
            name -> new ConfiguredSecret(secrets, "", Set.of(), Set.of()),
            InstantSource.system())) {
      return client
          .post(
              new WebhookTarget(
                  URI.create(url(host) + "/hooks"), "shop", Map.of(), Duration.ofMinutes(1)),
              new WebhookMessage("orders", "fire_1", "{}".getBytes(UTF_8), Map.of()))
          .get();
    }
  }

  @Test
  void aWebhookIsDelivered() throws Exception {
    assertThat(post("localhost").status()).isEqualTo(200);
    assertThat(ASKED).contains("POST /hooks");
  }

  @Test
  void aWebhookIsNotDeliveredToACertificateForAnotherName() {
    ASKED.clear();
    assertThatThrownBy(() -> post("127.0.0.1"))
        .isInstanceOf(ExecutionException.class)
        .hasMessageEndingWith("TLS: the certificate is not for this host");
    assertThat(ASKED).isEmpty();
  }

  private static int execute(StringWriter text, String host) throws IOException {
    CommandLine line = Main.commandLine(Map.of());
    line.setOut(new PrintWriter(text));
    line.setErr(new PrintWriter(text));
    return line.execute("stats", "--server", url(host));
  }

  @Test
  void aCommandIsAnswered() throws IOException {
    StringWriter text = new StringWriter();
    assertThat(execute(text, "localhost")).as("%s", text).isZero();
    assertThat(text.toString()).contains("node-7");
  }

  @Test
  void aCommandSendsNothingToAServerWithACertificateForAnotherName() throws IOException {
    ASKED.clear();
    StringWriter text = new StringWriter();
    assertThat(execute(text, "127.0.0.1")).isEqualTo(5);
    assertThat(text.toString()).contains("127.0.0.1");
    assertThat(ASKED).isEmpty();
  }
}
