// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import static java.lang.ProcessBuilder.Redirect.DISCARD;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.standardwebhooks.Webhook;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.timewheel.api.HeaderValue;
import io.timewheel.server.settings.Cidr;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the client over real sockets. Only this class verifies the timeout and the error of each
 * phase of a delivery.
 */
final class WebhookClientTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static final String OLD_SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final AddressPolicy LOOPBACK =
      AddressPolicy.admitting(List.of(Cidr.parse("127.0.0.0/8"), Cidr.parse("::1")));

  @SuppressWarnings("ArrayRecordComponent") // messages are never compared
  private record Received(String method, HttpHeaders headers, byte[] body) {}

  private final BlockingQueue<Received> received = new LinkedBlockingQueue<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private volatile Answering answering = exchange -> answer(exchange, 204, "");
  private HttpServer server;

  private interface Answering {
    void answer(HttpExchange exchange) throws IOException;
  }

  @BeforeEach
  void startServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/",
        exchange -> {
          received.add(
              new Received(
                  exchange.getRequestMethod(),
                  HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true),
                  exchange.getRequestBody().readAllBytes()));
          answering.answer(exchange);
        });
    server.start();
  }

  @AfterEach
  void stopServer() {
    server.stop(0);
    threads.shutdownNow();
  }

  @Test
  void thePublishedVerifierTakesItsSignature() throws Exception {
    byte[] body = "{\"order\":42,\"name\":\"Z\u00fcrich\"}".getBytes(UTF_8);
    try (WebhookClient client = client(Map.of("shop", List.of(WebhookSecret.parse(SECRET))))) {
      WebhookAnswer answer =
          client
              .post(
                  new WebhookTarget(
                      url("/hooks"), "shop", Map.of("X-Key", HeaderValue.text("k")), LONG),
                  new WebhookMessage("orders", "fire_1", body, Map.of("timewheel-attempt", "2")))
              .get();

      assertThat(answer.status()).isEqualTo(204);
    }
    Received one = received.take();
    assertThat(one.method()).isEqualTo("POST");
    assertThat(one.body()).isEqualTo(body);
    assertThat(one.headers().firstValue("webhook-id")).hasValue("fire_1");
    assertThat(one.headers().firstValue("X-Key")).hasValue("k");
    assertThat(one.headers().firstValue("timewheel-attempt")).hasValue("2");
    assertThat(one.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(one.headers().firstValue("Accept-Encoding")).isEmpty();
    new Webhook(SECRET).verify(new String(body, UTF_8), one.headers());
    assertThatThrownBy(() -> new Webhook(SECRET).verify("{}", one.headers()))
        .isInstanceOf(Exception.class);
  }

  @Test
  void bothSecretsOfARotationVerify() throws Exception {
    try (WebhookClient client =
        client(
            Map.of(
                "shop", List.of(WebhookSecret.parse(SECRET), WebhookSecret.parse(OLD_SECRET))))) {
      client.post(target("/"), message()).get();
    }
    Received one = received.take();
    for (String secret : List.of(SECRET, OLD_SECRET)) {
      assertThatCode(() -> new Webhook(secret).verify("{}", one.headers()))
          .doesNotThrowAnyException();
    }
  }

  @Test
  void reportsAMissingSecret() {
    try (WebhookClient client = client(Map.of())) {
      assertThatThrownBy(() -> client.post(target("/"), message()).get())
          .hasCauseInstanceOf(IOException.class)
          .hasMessageContaining("no secret has the name shop");
    }
  }

  @Test
  void followsNoRedirect() throws Exception {
    answering =
        exchange -> {
          exchange.getResponseHeaders().add("Location", "/elsewhere");
          answer(exchange, 307, "");
        };
    try (WebhookClient client = client()) {
      assertThat(client.post(target("/"), message()).get().status()).isEqualTo(307);
    }
    assertThat(received).hasSize(1);
  }

  @Test
  void asksForNoPassword() throws Exception {
    answering =
        exchange -> {
          exchange.getResponseHeaders().add("WWW-Authenticate", "Basic realm=\"x\"");
          answer(exchange, 401, "");
        };
    try (WebhookClient client = client()) {
      assertThat(client.post(target("/"), message()).get().status()).isEqualTo(401);
    }
    assertThat(received).hasSize(1);
  }

  @Test
  void keepsNoCookie() throws Exception {
    answering =
        exchange -> {
          exchange.getResponseHeaders().add("Set-Cookie", "a=b");
          answer(exchange, 204, "");
        };
    try (WebhookClient client = client()) {
      client.post(target("/"), message()).get();
      client.post(target("/"), message()).get();
    }
    received.take();
    assertThat(received.take().headers().firstValue("Cookie")).isEmpty();
  }

  @Test
  void keepsTheBeginningOfAnAnswer() throws Exception {
    answering = exchange -> answer(exchange, 500, "\u0007" + "x".repeat(100_000));
    try (WebhookClient client = client()) {
      WebhookAnswer answer = client.post(target("/"), message()).get();

      assertThat(answer.text()).isEqualTo(" " + "x".repeat(1_023));
    }
  }

  @Test
  void readsNoAnswerWithoutEnd() {
    answering =
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (OutputStream out = exchange.getResponseBody()) {
            while (true) {
              out.write(new byte[8_192]);
            }
          }
        };
    try (WebhookClient client = client()) {
      assertThatThrownBy(() -> client.post(target("/"), message()).get())
          .hasMessageContaining("the answer has more than 1048576 bytes");
    }
  }

  @Test
  void aTargetThatDoesNotAnswerCostsItsTimeoutAndNoMore() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        WebhookClient client = client()) {
      URI url = URI.create("http://127.0.0.1:" + silent.getLocalPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), Duration.ofSeconds(2));

      assertThatThrownBy(() -> client.post(target, message()).get())
          .hasCauseInstanceOf(IOException.class)
          .hasMessageContaining("no answer within PT2S");
    }
  }

  @Test
  void aTargetWithAnotherProtocolIsAFailure() throws Exception {
    try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        WebhookClient client = client()) {
      threads.execute(
          () -> {
            try (Socket socket = other.accept()) {
              socket.getInputStream().read();
              socket.getOutputStream().write("220 mail.example ESMTP\r\n".getBytes(UTF_8));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      URI url = URI.create("http://127.0.0.1:" + other.getLocalPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), LONG);

      assertThatThrownBy(() -> client.post(target, message()).get())
          .hasMessageEndingWith("127.0.0.1: wait for the answer: it was not HTTP");
    }
  }

  @Test
  void anErrorNamesHostPhaseAndCause() throws Exception {
    CheckedResolver.NameService names =
        host -> {
          throw new UnknownHostException(host + ": Name or service not known");
        };
    try (WebhookClient client =
        WebhookClient.start(LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), names)) {
      URI url = URI.create("http://none.example/");
      assertThatThrownBy(
              () -> client.post(new WebhookTarget(url, "shop", Map.of(), LONG), message()).get())
          .hasMessageEndingWith("none.example: DNS: no such host");
    }
    int port;
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        WebhookClient client = client()) {
      port = silent.getLocalPort();
      Duration soon = Duration.ofSeconds(2);
      URI url = URI.create("https://127.0.0.1:" + port);
      assertThatThrownBy(
              () -> client.post(new WebhookTarget(url, "shop", Map.of(), soon), message()).get())
          .hasMessageEndingWith("127.0.0.1: TLS: no handshake within PT2S");
    }
    try (WebhookClient client = client()) {
      URI url = URI.create("https://127.0.0.1:" + port);
      assertThatThrownBy(
              () -> client.post(new WebhookTarget(url, "shop", Map.of(), LONG), message()).get())
          .hasMessageEndingWith("127.0.0.1: connect: connection refused");
    }
  }

  @Test
  void aLookupThatTakesTooLongIsAnErrorOfDns() throws Exception {
    CountDownLatch stuck = new CountDownLatch(1);
    CheckedResolver.NameService names =
        host -> {
          try {
            stuck.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          throw new UnknownHostException(host);
        };
    try (WebhookClient client =
        WebhookClient.start(LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), names)) {
      URI url = URI.create("http://Slow.Example/"); // the client asks for slow.example
      Duration soon = Duration.ofSeconds(2);
      assertThatThrownBy(
              () -> client.post(new WebhookTarget(url, "shop", Map.of(), soon), message()).get())
          .hasMessageEndingWith("slow.example: DNS: no address within PT2S");
      stuck.countDown();
    }
  }

  /**
   * 600 hosts of one namespace hold lookup threads or wait for one. Another namespace has its own.
   */
  @Test
  void slowLookupsOfANamespaceDelayNoOtherNamespaceAndAreNotCountedIfTheyDidNotBegin()
      throws Exception {
    CountDownLatch stuck = new CountDownLatch(1);
    CheckedResolver.NameService names =
        host -> {
          if (host.startsWith("slow")) {
            try {
              stuck.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
          return new InetAddress[] {InetAddress.getLoopbackAddress()};
        };
    try (WebhookClient client =
        WebhookClient.start(LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), names)) {
      int port = server.getAddress().getPort();
      List<CompletableFuture<WebhookAnswer>> slow = new ArrayList<>();
      for (int i = 0; i < 600; i++) {
        URI url = URI.create("http://slow" + i + ".example:" + port);
        slow.add(
            client.post(
                new WebhookTarget(url, "shop", Map.of(), Duration.ofSeconds(5)), message()));
      }
      assertThat(client.post(target("/"), message()).get().status())
          .as("an address needs no lookup")
          .isEqualTo(204);
      URI alive = URI.create("http://alive.example:" + port);
      WebhookMessage ofOther = new WebhookMessage("others", "f", "{}".getBytes(UTF_8), Map.of());
      assertThat(
              client.post(new WebhookTarget(alive, "shop", Map.of(), LONG), ofOther).get().status())
          .isEqualTo(204);
      int begun = 0;
      for (CompletableFuture<WebhookAnswer> one : slow) {
        Throwable failure = one.handle((answer, error) -> error).get();
        begun += failure instanceof NoSlotException ? 0 : 1;
      }
      assertThat(begun).isEqualTo(Lookups.MAX / 2);
      stuck.countDown();
    }
  }

  @Test
  void anAnswerHidesTheSecretsThatItShows() throws Exception {
    ConfiguredSecret secret =
        new ConfiguredSecret(
            List.of(WebhookSecret.parse(SECRET)), "Bearer tk_12345", Set.of(), Set.of());
    answering =
        exchange -> answer(exchange, 500, exchange.getRequestHeaders().getFirst("Authorization"));
    try (WebhookClient client =
        WebhookClient.start(LOOPBACK, name -> secret, InstantSource.system())) {
      Map<String, HeaderValue> headers = Map.of("Authorization", HeaderValue.secret("shop"));
      WebhookTarget target = new WebhookTarget(url("/"), "shop", headers, LONG);

      assertThat(client.post(target, message()).get().text()).isEqualTo("***");
    }
    assertThat(received.take().headers().firstValue("Authorization")).hasValue("Bearer tk_12345");
  }

  @Test
  void thePartOfASecretAtTheCutOfAnAnswerIsHidden() {
    assertThat(hide("token=tk_12345, tk_1", true, "Bearer tk_12345")).isEqualTo("token=***, ***");
    assertThat(hide("a plain text", false, "Bearer tk_12345")).isEqualTo("a plain text");
    assertThat(hide("signs only", false, "")).isEqualTo("signs only");
  }

  @Test
  void eachWordOfASecretIsHidden() {
    assertThat(hide("{\"sid\":\"SECRET\"}", false, "sid=SECRET; lang=en"))
        .isEqualTo("{\"sid\":\"***\"}");
    assertThat(hide("got sid=SECRET; lang=en", false, "sid=SECRET; lang=en")).isEqualTo("got ***");
    assertThat(hide("abcdef12", false, "abcd", "abcdef12")).as("both").isEqualTo("***");
    assertThat(hide("ab1:cd2", false, "Token ab1:cd2")).isEqualTo("***");
    assertThat(hide("key tk_B", true, "Bearer tk_B1234")).as("the longest").isEqualTo("key ***");
  }

  private static String hide(String text, boolean isCut, String... secrets) {
    return WebhookClient.hide(List.of(secrets), text, isCut);
  }

  @Test
  void anAddressNeedsNoNameServer() {
    List<String> names = new CopyOnWriteArrayList<>();
    CheckedResolver.NameService service =
        host -> {
          names.add(host);
          throw new UnknownHostException(host);
        };
    try (WebhookClient client =
        WebhookClient.start(
            LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), service)) {
      for (String host : List.of("[::1]", "127.0.0.1")) {
        WebhookTarget target =
            new WebhookTarget(URI.create("http://" + host + ":1/"), "shop", Map.of(), LONG);
        assertThatThrownBy(() -> client.post(target, message()).get()).isNotNull();
      }
    }
    assertThat(names).isEmpty();
  }

  @Test
  void anUntrustedCertificateIsRefused(@TempDir Path directory) throws Exception {
    Path store = directory.resolve("keys");
    String command = "-genkeypair -alias a -keyalg EC -storepass changeit -dname CN=x -keystore ";
    List<String> keytool = new ArrayList<>();
    keytool.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    keytool.addAll(List.of((command + store).split(" ")));
    assertThat(new ProcessBuilder(keytool).redirectOutput(DISCARD).start().waitFor()).isZero();
    KeyStore keys = KeyStore.getInstance(store.toFile(), "changeit".toCharArray());
    KeyManagerFactory factory = KeyManagerFactory.getInstance("SunX509");
    factory.init(keys, "changeit".toCharArray());
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(factory.getKeyManagers(), null, null);
    HttpsServer secure =
        HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    secure.setHttpsConfigurator(new HttpsConfigurator(tls));
    secure.setExecutor(threads);
    AtomicInteger calls = new AtomicInteger();
    secure.createContext("/", exchange -> calls.incrementAndGet());
    secure.start();
    try (WebhookClient client = client()) {
      URI url = URI.create("https://127.0.0.1:" + secure.getAddress().getPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), LONG);

      assertThatThrownBy(() -> client.post(target, message()).get())
          .hasMessageEndingWith("127.0.0.1: TLS: the certificate is not trusted");
      assertThat(calls).hasValue(0);
    } finally {
      secure.stop(0);
    }
  }

  /** Some servers send upgrade headers without a request. */
  @ParameterizedTest
  @ValueSource(strings = {"100 Continue", "102 Processing", "103 Early Hints"})
  void waitsForTheAnswerBehindAnInterimOne(String interim) throws Exception {
    try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        WebhookClient client = client()) {
      threads.execute(
          () -> {
            try (Socket socket = other.accept()) {
              socket.getInputStream().read();
              String answer = "HTTP/1.1 " + interim + "\r\n\r\nHTTP/1.1 410 Gone\r\n\r\n";
              socket.getOutputStream().write(answer.getBytes(UTF_8));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
      URI url = URI.create("http://127.0.0.1:" + other.getLocalPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), LONG);

      assertThat(client.post(target, message()).get().status()).isEqualTo(410);
    }
  }

  @Test
  void switchesToNoOtherProtocol() throws Exception {
    answering =
        exchange -> {
          exchange.getResponseHeaders().add("Upgrade", "h2c");
          exchange.getResponseHeaders().add("Connection", "Upgrade");
          answer(exchange, 101, "");
        };
    try (WebhookClient client = client()) {
      assertThat(client.post(target("/"), message()).get().status()).isEqualTo(101);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "2130706433", "localhost", "[::1]", "[::ffff:127.0.0.1]"})
  void refusesAnInternalAddressByNumberAndByName(String host) {
    AddressPolicy strict = AddressPolicy.admitting(List.of());
    try (WebhookClient client =
        WebhookClient.start(strict, WebhookClientTest::secrets, InstantSource.system())) {
      URI url = URI.create("http://" + host + ":" + server.getAddress().getPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), LONG);

      assertThatThrownBy(() -> client.post(target, message()).get())
          .hasRootCauseInstanceOf(RefusedAddressException.class)
          .hasMessageContaining(": the address is not public; ");
    }
    assertThat(received).isEmpty();
  }

  /** The name is resolved for each connection, and the client connects to the checked address. */
  @Test
  void refusesANameThatResolvesToAnInternalAddress() throws Exception {
    AtomicInteger lookups = new AtomicInteger();
    InetAddress inner = InetAddress.getByName("10.0.0.1");
    InetAddress admitted = InetAddress.getLoopbackAddress();
    CheckedResolver.NameService rebinding =
        host -> new InetAddress[] {lookups.incrementAndGet() == 1 ? admitted : inner};
    answering =
        exchange -> {
          exchange.getResponseHeaders().add("Connection", "close");
          answer(exchange, 204, "");
        };
    try (WebhookClient client =
        WebhookClient.start(
            LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), rebinding)) {
      URI url = URI.create("http://rebind.example:" + server.getAddress().getPort());
      WebhookTarget target = new WebhookTarget(url, "shop", Map.of(), LONG);

      assertThat(client.post(target, message()).get().status()).isEqualTo(204);
      assertThatThrownBy(() -> client.post(target, message()).get())
          .hasRootCauseInstanceOf(RefusedAddressException.class);
    }
    assertThat(received).hasSize(1);
  }

  @Test
  void leavesOutTheInnerOnesOfManyAddresses() throws Exception {
    InetAddress inner = InetAddress.getByName("10.0.0.1");
    InetAddress admitted = InetAddress.getLoopbackAddress();
    try (WebhookClient client =
        WebhookClient.start(
            LOOPBACK,
            WebhookClientTest::secrets,
            InstantSource.system(),
            host -> new InetAddress[] {inner, admitted})) {
      URI url = URI.create("http://both.example:" + server.getAddress().getPort());

      assertThat(
              client.post(new WebhookTarget(url, "shop", Map.of(), LONG), message()).get().status())
          .isEqualTo(204);
    }
  }

  @Test
  void aHostWithoutNameServersDelaysNoOtherHost() throws Exception {
    CountDownLatch stuck = new CountDownLatch(1);
    AtomicInteger lookups = new AtomicInteger();
    CheckedResolver.NameService names =
        host -> {
          if (host.equals("dead.example")) {
            lookups.incrementAndGet();
            try {
              stuck.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          }
          return new InetAddress[] {InetAddress.getLoopbackAddress()};
        };
    List<CompletableFuture<WebhookAnswer>> waiting = new ArrayList<>();
    try (WebhookClient client =
        WebhookClient.start(LOOPBACK, WebhookClientTest::secrets, InstantSource.system(), names)) {
      int port = server.getAddress().getPort();
      URI dead = URI.create("http://dead.example:" + port);
      URI alive = URI.create("http://alive.example:" + port);
      for (int i = 0; i < 200; i++) {
        waiting.add(client.post(new WebhookTarget(dead, "shop", Map.of(), LONG), message()));
      }

      assertThat(
              client
                  .post(new WebhookTarget(alive, "shop", Map.of(), LONG), message())
                  .get()
                  .status())
          .isEqualTo(204);
      assertThat(lookups).hasValue(1);
      assertThat(waiting).noneMatch(CompletableFuture::isDone);
      stuck.countDown();
      for (CompletableFuture<WebhookAnswer> one : waiting) {
        assertThat(one.get().status()).isEqualTo(204);
      }
    }
  }

  @Test
  void requestsInProgressFailOnClose() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      WebhookClient client = client();
      URI url = URI.create("http://127.0.0.1:" + silent.getLocalPort());
      CompletableFuture<WebhookAnswer> call =
          client.post(new WebhookTarget(url, "shop", Map.of(), LONG), message());
      try (Socket accepted = silent.accept()) {
        client.close();
        assertThatThrownBy(call::get).hasCauseInstanceOf(IOException.class);
        assertThat(accepted.isClosed()).isFalse();
      }
    }
  }

  private WebhookClient client() {
    return WebhookClient.start(LOOPBACK, WebhookClientTest::secrets, InstantSource.system());
  }

  private static WebhookClient client(Map<String, List<WebhookSecret>> secrets) {
    return WebhookClient.start(
        LOOPBACK,
        name ->
            secrets.containsKey(name)
                ? new ConfiguredSecret(secrets.get(name), "", Set.of(), Set.of())
                : null,
        InstantSource.system());
  }

  private static ConfiguredSecret secrets(String name) {
    return name.equals("shop")
        ? new ConfiguredSecret(List.of(WebhookSecret.parse(SECRET)), "", Set.of(), Set.of())
        : null;
  }

  private WebhookTarget target(String path) {
    return new WebhookTarget(url(path), "shop", Map.of(), LONG);
  }

  private URI url(String path) {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
  }

  private static WebhookMessage message() {
    return new WebhookMessage("orders", "fire_1", "{}".getBytes(UTF_8), Map.of());
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }
}
