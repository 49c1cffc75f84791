// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.jdbc.testing.Database;
import io.timewheel.durable.jdbc.testing.TestDatabases;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.StoreListener;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.server.security.Tokens;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the server as a separate process. Only this class verifies exit code 0 after SIGTERM, the
 * drain delay, the environment of a server, and an application and a server on one database.
 */
class ServeTest {
  @TempDir private Path directory;
  private final Programs programs = new Programs();
  private final HttpClient client = HttpClient.newHttpClient();

  @AfterEach
  void kill() {
    programs.close();
  }

  private Process run(String... args) throws IOException {
    return programs.run(Map.of(), args);
  }

  private Process serve() throws IOException {
    return run("serve", "--port", "0", "--data", directory.resolve("data").toString());
  }

  private static String address(Process server) throws IOException {
    return Programs.address(server, "127.0.0.1");
  }

  private int status(String method, String uri, String body, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(uri))
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), BodyHandlers.discarding()).statusCode();
  }

  @Test
  void reportsReadinessAndExitsZeroOnSigterm() throws Exception {
    Process server = serve();
    String address = address(server);
    assertThat(status("GET", address + "/readyz", null)).isEqualTo(200);
    String timer = address + "/v1/namespaces/shop/timers/a";
    assertThat(status("PUT", timer, "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))
        .isEqualTo(201);
    server.destroy();
    assertThat(server.waitFor()).isZero();

    Process next = serve();
    assertThat(status("GET", address(next) + "/v1/namespaces/shop/timers/a", null)).isEqualTo(200);
    next.destroyForcibly().waitFor();
    Process afterKill = serve();
    assertThat(status("GET", address(afterKill) + "/v1/namespaces/shop/timers/a", null))
        .isEqualTo(200);
  }

  @Test
  void aSecondServerOnTheSameDataReportsThatItIsInUse() throws Exception {
    address(serve());
    Process second = serve();
    String errors = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(second.waitFor()).isEqualTo(1);
    assertThat(errors).contains("in use");
  }

  @Test
  void duringTheDrainDelayItIsNotReadyAndServes() throws Exception {
    Process server =
        run(
            "serve",
            "--port",
            "0",
            "--drain-delay",
            "PT1H",
            "--data",
            directory.resolve("data").toString());
    String address = address(server);
    assertThat(status("GET", address + "/readyz", null)).isEqualTo(200);
    server.destroy();
    Await.until(() -> status("GET", address + "/readyz", null) == 503);
    assertThat(status("GET", address + "/healthz", null)).isEqualTo(200);
    String timer = address + "/v1/namespaces/shop/timers/a";
    assertThat(status("PUT", timer, "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))
        .isEqualTo(201);
    assertThat(server.isAlive()).isTrue();
  }

  @Test
  void afterTheDrainDelayItEnds() throws Exception {
    Process server =
        run(
            "serve",
            "--port",
            "0",
            "--drain-delay",
            "PT0.2S",
            "--data",
            directory.resolve("data").toString());
    address(server);
    server.destroy();
    assertThat(server.waitFor()).isZero();
  }

  @Test
  void warnsOfTokensInClearTextWithoutACertificate() throws Exception {
    Path tokens = directory.resolve("tokens");
    Tokens.add(tokens, "ops", "admin", Set.of());
    List<String> args =
        new ArrayList<>(
            List.of("serve", "--port", "0", "--listen", "0.0.0.0", "--tokens", tokens.toString()));
    args.addAll(List.of("--data", directory.resolve("data").toString()));
    Path errors = directory.resolve("errors");
    Redirect toFile = Redirect.to(errors.toFile());
    Process clear = programs.run(Map.of(), toFile, args.toArray(String[]::new));
    Programs.address(clear, "0.0.0.0");
    clear.destroyForcibly().waitFor();
    assertThat(errors).content().contains("Tokens are sent in clear text to http://0.0.0.0:0");

    TlsFixture fixture = new TlsFixture(directory);
    args.addAll(List.of("--tls-cert", fixture.file("ec.crt").toString()));
    args.addAll(List.of("--tls-key", fixture.file("ec.key").toString(), "--base-path", "/timers"));
    Process tls = programs.run(Map.of(), toFile, args.toArray(String[]::new));
    assertThat(tls.inputReader(StandardCharsets.UTF_8).readLine())
        .matches("Timewheel ready on https://0.0.0.0:\\d+/timers");
    tls.destroyForcibly().waitFor();
    assertThat(errors).content().doesNotContain("in clear");
  }

  @Test
  void withTokensItListensBeyondLoopbackAndRefusesOthers() throws Exception {
    Path tokens = directory.resolve("tokens");
    String[] create = {"tokens", "create", "ops", "--role", "admin", "--tokens", tokens.toString()};
    Commands.Ended made = Commands.run(Map.of(), create);
    assertThat(made.exitCode()).as(made.err()).isZero();
    String token = made.out().strip();
    Path audit = directory.resolve("audit.log");
    Process server =
        run(
            "serve",
            "--port",
            "0",
            "--listen",
            "0.0.0.0",
            "--data",
            directory.resolve("data").toString(),
            "--tokens",
            tokens.toString(),
            "--audit-log",
            audit.toString());
    int port = URI.create(Programs.address(server, "0.0.0.0")).getPort();
    String timer = "http://127.0.0.1:" + port + "/v1/namespaces/shop/timers/a";
    assertThat(status("GET", timer, null)).isEqualTo(401);
    assertThat(status("DELETE", timer, null, "Authorization", "Bearer " + token)).isEqualTo(404);
    assertThat(Files.readString(audit)).contains("\"who\":\"ops\"").doesNotContain(token);
    assertThat(run(create).waitFor()).isEqualTo(4);
  }

  @Test
  void tenThousandIdleConnectionsBlockNoRequest() throws Exception {
    var system = ManagementFactory.getOperatingSystemMXBean();
    assumeTrue(
        system instanceof UnixOperatingSystemMXBean unix
            && unix.getMaxFileDescriptorCount() > 11_000,
        "needs 11,000 file descriptors");
    String address = address(serve());
    InetSocketAddress where =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), URI.create(address).getPort());
    List<SocketChannel> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 10_000; i++) {
        idle.add(SocketChannel.open(where));
      }
      assertThat(status("GET", address + "/v1/stats", null)).isEqualTo(200);
    } finally {
      for (SocketChannel channel : idle) {
        channel.close();
      }
    }
  }

  @Test
  void nodesJoinOnPostgreSql() throws Exception {
    nodesJoinOn(TestDatabases.postgresql().createDatabase());
  }

  @Test
  void nodesJoinOnMariaDb() throws Exception {
    nodesJoinOn(TestDatabases.mariadb().createDatabase());
  }

  @Test
  void anObserverOwnsNoShardsOfASharedStore() throws Exception {
    Database database = TestDatabases.postgresql().createDatabase();
    Process observer =
        programs.run(
            Map.of("TIMEWHEEL_STORE_PASSWORD", database.password()),
            "serve",
            "--observe",
            "--port",
            "0",
            "--store",
            database.url(),
            "--store-user",
            database.user());
    String address = address(observer);
    String timer = address + "/v1/namespaces/shop/timers/a";
    assertThat(status("PUT", timer, "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))
        .isEqualTo(201);
    assertThat(status("GET", timer, null)).isEqualTo(200);
    String cluster =
        client
            .send(
                HttpRequest.newBuilder(URI.create(address + "/v1/cluster")).build(),
                BodyHandlers.ofString())
            .body();
    assertThat(cluster).contains("\"client\":true").doesNotContain("\"owner\"");
    assertThat(status("DELETE", timer, null)).isEqualTo(200);
  }

  @Test
  @Tag("proof") // waits for a node lease to expire
  void timersOfAnApplicationFireWhileAServerRunsAndAfterItIsKilled() throws Exception {
    Database database = TestDatabases.postgresql().createDatabase();
    Semaphore fired = new Semaphore(0);
    Semaphore shardMoves = new Semaphore(0);
    try (HikariDataSource pool = database.pool(8);
        DurableTimer application =
            DurableTimer.builder(notingMoves(JdbcTimerStore.postgresql(pool), shardMoves))
                .handler("a", firing -> fired.release())
                .start()) {
      Process server =
          programs.run(
              Map.of("TIMEWHEEL_STORE_PASSWORD", database.password()),
              "serve",
              "--port",
              "0",
              "--store",
              database.url(),
              "--store-user",
              database.user());
      assertThat(address(server)).isNotNull();
      shardMoves.acquire();
      scheduleForHandler(application, "alive");
      fired.acquire(100);
      scheduleForHandler(application, "killed");
      server.destroyForcibly().waitFor();
      fired.acquire(100);
      assertThat(application.stats().failed()).isZero();
    }
  }

  /** Returns a store that records each shard that its node takes from another node. */
  private static TimerStore notingMoves(TimerStore store, Semaphore moves) {
    return new ForwardingTimerStore(store) {
      @Override
      public void start(StoreListener listener) {
        super.start(
            (StoreListener)
                Proxy.newProxyInstance(
                    StoreListener.class.getClassLoader(),
                    new Class<?>[] {StoreListener.class},
                    (proxy, method, arguments) -> {
                      if (method.getName().equals("releasing")) {
                        moves.release();
                      }
                      return method.invoke(listener, arguments);
                    }));
      }
    };
  }

  private static void scheduleForHandler(DurableTimer scheduler, String prefix) {
    List<TimerSpec> specs = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      specs.add(TimerSpec.of("shop", prefix + i).handler("a").after(Duration.ofSeconds(1)));
    }
    scheduler.scheduleAll(specs).forEach(result -> assertThat(result.error()).isNull());
  }

  private void nodesJoinOn(Database database) throws Exception {
    String[] args = {
      "serve", "--port", "0", "--store", database.url(), "--store-user", database.user()
    };
    Map<String, String> environment = Map.of("TIMEWHEEL_STORE_PASSWORD", database.password());
    Process one = programs.run(environment, args);
    String timer = address(one) + "/v1/namespaces/shop/timers/a";
    assertThat(status("PUT", timer, "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}"))
        .isEqualTo(201);

    Path password = directory.resolve("password");
    Files.writeString(password, database.password() + "\n");
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
    List<String> more = new ArrayList<>(List.of(args));
    more.addAll(List.of("--store-password-file", password.toString()));
    Process other = run(more.toArray(String[]::new));
    String address = address(other);
    assertThat(status("GET", address + "/v1/namespaces/shop/timers/a", null)).isEqualTo(200);
    one.destroyForcibly().waitFor();
    assertThat(status("DELETE", address + "/v1/namespaces/shop/timers/a", null)).isEqualTo(200);
    other.destroy();
    assertThat(other.waitFor()).isZero();
  }

  @Test
  void webhooksUseNoProxyOfTheEnvironment() throws Exception {
    Path secrets = directory.resolve("secrets");
    Files.writeString(secrets, "shop " + WebhooksTest.SECRET + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocketChannel proxy =
            ServerSocketChannel.open().bind(new InetSocketAddress(loopback, 0));
        Receiver plain = new Receiver();
        ServerSocket tls = new ServerSocket(0, 50, loopback)) {
      int port = proxy.socket().getLocalPort();
      String url = "http://127.0.0.1:" + port;
      String properties =
          "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=%1$d -Dhttp.nonProxyHosts="
              + " -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=%1$d"
              + " -Djava.net.useSystemProxies=true";
      Map<String, String> environment = new HashMap<>();
      environment.put("JAVA_TOOL_OPTIONS", properties.formatted(port));
      for (String name : List.of("http_proxy", "https_proxy", "all_proxy")) {
        environment.put(name, url);
        environment.put(name.toUpperCase(Locale.ROOT), url);
      }
      Process server =
          programs.run(
              environment,
              Redirect.DISCARD,
              "serve",
              "--port",
              "0",
              "--data",
              directory.resolve("data").toString(),
              "--webhook-secrets",
              secrets.toString(),
              "--allow-target",
              "127.0.0.0/8");
      String timers = address(server) + "/v1/namespaces/shop/timers/";
      String spec = "{\"after\":\"PT0S\",\"target\":{\"url\":\"%s\",\"secret\":\"shop\"}}";
      assertThat(status("PUT", timers + "a", spec.formatted(plain.url("/a")))).isEqualTo(201);
      String https = "https://127.0.0.1:" + tls.getLocalPort();
      assertThat(status("PUT", timers + "b", spec.formatted(https))).isEqualTo(201);

      int handshake = 22;
      try (Socket direct = tls.accept()) {
        assertThat(direct.getInputStream().read()).isEqualTo(handshake);
      }
      Await.until(() -> !plain.calls.isEmpty());
      proxy.configureBlocking(false);
      assertThat(proxy.accept()).isNull();
    }
  }
}
