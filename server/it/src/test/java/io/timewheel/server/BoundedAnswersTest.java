// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.ForwardingTimerStore;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import io.timewheel.server.Running.Answer;
import io.timewheel.server.json.JsonPage;
import io.timewheel.server.settings.Cidr;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import io.timewheel.server.settings.WorkLimits;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/**
 * Tests that large answers and bodies take a limited amount of memory. Only this class verifies the
 * limit of 4 MB, and clients that do not read.
 */
@Timeout(120)
class BoundedAnswersTest {
  private static final String LIST = "/v1/namespaces/shop/timers";
  private static final String SPEC = "{\"after\":\"PT1H\",\"target\":{\"queue\":\"q\"}}";

  /**
   * The number of timers with large payloads. The payloads are not JSON, so Base64 makes them a
   * third longer in an answer.
   */
  private static final int LARGE_TIMERS = 80;

  private static UnaryOperator<ServerConfig> limits(
      long bodyBytes, long answerBytes, Duration maxStall) {
    WorkLimits standard = WorkLimits.standard();
    return config ->
        with(
            config,
            bodyBytes,
            new WorkLimits(
                standard.longAtATime(),
                standard.shortAtATime(),
                standard.maxWaiting(),
                standard.maxWait(),
                answerBytes,
                maxStall,
                standard.storeTimeout()));
  }

  static ServerConfig with(ServerConfig config, long bodyBytes, WorkLimits work) {
    return new ServerConfig(
        config.listen(),
        config.port(),
        config.hosts(),
        config.ingress(),
        config.maxConnections(),
        config.maxWaitingClaims(),
        config.maxStreams(),
        bodyBytes,
        config.maxBodyTime(),
        work);
  }

  private static void scheduleLarge(Running running, Duration after) {
    byte[] payload = "x".repeat(64 * 1024).getBytes(UTF_8);
    for (int i = 0; i < LARGE_TIMERS; i++) {
      running.scheduler.schedule(
          TimerSpec.of("shop", "large" + i).after(after).queue("q").payload(payload));
    }
  }

  private static List<String> ids(Answer answer, String field) {
    List<String> ids = new ArrayList<>();
    answer.json().get(field).forEach(each -> ids.add(each.get("id").asString()));
    return ids;
  }

  @Test
  void aPageWithPayloadsEndsAt4MbAndTheNextOneContinuesAfterIt() {
    try (Running running = new Running()) {
      scheduleLarge(running, Duration.ofHours(1));
      Set<String> seen = new TreeSet<>();
      int pages = 0;
      String token = "";
      while (token != null) {
        Answer page = running.get(LIST + "?payload=true&pageSize=5000" + token);
        assertThat(page.response().body().length()).isLessThanOrEqualTo(JsonPage.MAX_BYTES);
        assertThat(ids(page, "timers")).isNotEmpty().allMatch(seen::add);
        token =
            page.json().has("nextPageToken") ? "&pageToken=" + page.text("nextPageToken") : null;
        pages++;
      }
      assertThat(seen).hasSize(LARGE_TIMERS);
      assertThat(pages).isEqualTo(2);
    }
  }

  @Test
  void aClaimEndsAt4MbAndLeavesTheOthersToTheNextOne() {
    try (Running running = new Running()) {
      scheduleLarge(running, Duration.ZERO);
      Set<String> seen = new TreeSet<>();
      while (seen.size() < LARGE_TIMERS) {
        Answer claim = running.post("/v1/namespaces/shop/queues/q/firings:claim", "{\"max\":1000}");
        assertThat(claim.response().body().length()).isLessThanOrEqualTo(JsonPage.MAX_BYTES);
        assertThat(ids(claim, "firings")).allMatch(seen::add);
        claim
            .json()
            .get("firings")
            .forEach(firing -> assertThat(firing.get("attempt").asInt()).isEqualTo(1));
      }
    }
  }

  /** Each item is refused, and its answer repeats the received text. */
  @Test
  void anAnswerToABatchEndsAt4Mb() {
    String shape = "\\u0001\"\"€".replace("\"", "\\\"").repeat(550);
    try (Running running = new Running()) {
      for (String item :
          List.of(
              "{\"id\":\"" + shape + "\"," + SPEC.substring(1),
              "{\"id\":\"a\",\"" + shape + "\":1}",
              "{\"id\":\"" + shape + "\",\"cron\":\"" + shape + "\"}",
              "{\"id\":\"" + "€".repeat(85) + "\",\"cron\":\"" + shape + "\"}",
              "{\"id\":\"a\",\"after\":\"" + shape + "\"}")) {
        assertBounded(running.post(LIST + ":batch", array("timers", item)));
      }
      for (String item :
          List.of(
              "{\"fireId\":\"" + shape + "\",\"leaseToken\":\"x\"}",
              "{\"" + shape + "\":1}",
              "{\"fireId\":\"" + "A".repeat(5_000) + "\"}")) {
        assertBounded(running.post("/v1/namespaces/shop/firings:ack", array("firings", item)));
      }
    }
  }

  private static String array(String name, String item) {
    return "{\"" + name + "\":[" + String.join(",", Collections.nCopies(1_000, item)) + "]}";
  }

  private static void assertBounded(Answer answer) {
    assertThat(answer.status()).as(answer.response().body()).isEqualTo(200);
    assertThat(answer.response().body().getBytes(UTF_8)).hasSizeLessThan(JsonPage.MAX_BYTES);
  }

  /** The longest names, in which JSON escapes each byte to two. */
  @Test
  void viewsEndAt4Mb() {
    try (Running running = new Running()) {
      String encoded = "%22".repeat(250);
      for (int i = 0; i < 20; i++) {
        String namespace = "/v1/namespaces/" + encoded + "%06d".formatted(i);
        running.put(
            namespace + "/timers/a",
            "{\"after\":\"PT0S\",\"target\":{\"queue\":\"" + "\\\"".repeat(256) + "\"}}");
        running.post(namespace + "/queues/" + encoded + ":pause", null);
        running.post(namespace + ":pause", null);
      }
      for (String path :
          List.of("/v1/stats", "/v1/wheel", "/v1/cluster", "/v1/namespaces", "/metrics")) {
        assertBounded(running.get(path));
      }
    }
  }

  /** The names of 2,000 queues are 1 MB, and their figures less. */
  @Test
  void aPageOfQueuesEndsAt4Mb() {
    try (Running running = new Running()) {
      for (int i = 0; i < 2_010; i++) {
        running.scheduler.schedule(
            TimerSpec.of("shop", "t" + i)
                .after(Duration.ofHours(1))
                .queue("\"".repeat(250) + "%06d".formatted(i)));
      }
      Answer page = running.get("/v1/namespaces/shop/queues?pageSize=2000");
      assertBounded(page);
      assertThat(page.json().get("queues")).hasSize(2_000);
      String token = page.text("nextPageToken");
      Answer last = running.get("/v1/namespaces/shop/queues?pageToken=" + token);
      assertThat(last.json().get("queues")).hasSize(10);
    }
  }

  /** A hundred attempts are retained, each with 4,000 characters of its error. */
  @Test
  void aTimerWithItsAttemptsEndsAt4Mb() {
    try (Running running = new Running()) {
      running.put(
          LIST + "/a",
          "{\"after\":\"PT0S\",\"retry\":{\"maxAttempts\":1000,\"backoff\":\"PT0.01S\",\"maxBackoff\":"
              + "\"PT0.01S\"},\"target\":{\"queue\":\"q\"}}");
      String error = "\\u0001".repeat(4_000);
      for (int i = 0; i < 105; i++) {
        Answer claim = running.post("/v1/namespaces/shop/queues/q/firings:claim", "{\"max\":1}");
        JsonNode firing = claim.json().at("/firings/0");
        running.post(
            "/v1/namespaces/shop/firings/" + firing.get("fireId").asString() + ":nack",
            "{\"leaseToken\":\""
                + firing.get("leaseToken").asString()
                + "\",\"error\":\""
                + error
                + "\"}");
      }
      Answer timer = running.get(LIST + "/a");
      assertBounded(timer);
      assertThat(timer.json().get("attempts")).hasSize(100);
    }
  }

  @Test
  void namespacesHavePages() {
    try (Running running = new Running()) {
      List<String> names = IntStream.range(0, 12).mapToObj("ns%02d"::formatted).toList();
      names.forEach(name -> running.put("/v1/namespaces/" + name + "/timers/a", SPEC));
      List<String> seen = new ArrayList<>();
      String token = "";
      while (token != null) {
        Answer page = running.get("/v1/namespaces?pageSize=5" + token);
        page.json().get("namespaces").forEach(each -> seen.add(each.get("namespace").asString()));
        assertThat(page.json().get("namespaces").size()).isLessThanOrEqualTo(5);
        token =
            page.json().has("nextPageToken") ? "&pageToken=" + page.text("nextPageToken") : null;
      }
      assertThat(seen).isEqualTo(names);
    }
  }

  @Test
  void aPageTokenOfAnotherListIsRefused() {
    try (Running running = new Running()) {
      // The names Aa and BB have the same hash in Java.
      for (String namespace : List.of("aaa", "shop", "Aa", "BB")) {
        running.put("/v1/namespaces/" + namespace + "/timers/a", SPEC);
        running.put("/v1/namespaces/" + namespace + "/timers/b", SPEC);
      }
      String timers = running.get("/v1/namespaces/aaa/timers?pageSize=1").text("nextPageToken");
      String namespaces = running.get("/v1/namespaces?pageSize=1").text("nextPageToken");
      String ofAa = running.get("/v1/namespaces/Aa/timers?pageSize=1").text("nextPageToken");
      assertThat(running.get("/v1/namespaces/aaa/timers?pageToken=" + timers).status())
          .isEqualTo(200);
      for (String other :
          List.of(
              "/v1/namespaces/shop/timers?pageToken=" + timers,
              "/v1/namespaces/BB/timers?pageToken=" + ofAa,
              "/v1/namespaces/aaa/timers?prefix=b&pageToken=" + timers,
              "/v1/namespaces/aaa/timers?state=all&pageToken=" + timers,
              "/v1/namespaces/aaa/timers?pageToken=" + namespaces,
              "/v1/namespaces?pageToken=" + timers)) {
        Answer refused = running.get(other);
        assertThat(refused.status()).as(other).isEqualTo(400);
        assertThat(refused.text("field")).isEqualTo("pageToken");
      }
    }
  }

  /** Returns one timer in each lookup. */
  private static final class OneByOneStore extends ForwardingTimerStore {
    OneByOneStore(TimerStore store) {
      super(store);
    }

    @Override
    public TimerPage page(TimerQuery query, @Nullable TimerKey after, int limit) {
      TimerQuery any =
          new TimerQuery(
              query.namespace(),
              "",
              EnumSet.allOf(TimerState.class),
              Long.MIN_VALUE,
              Long.MAX_VALUE,
              null,
              query.payload());
      TimerPage one = super.page(any, after, 1);
      List<TimerRecord> found = one.records().stream().filter(query::matches).toList();
      return new TimerPage(found, one.next());
    }
  }

  @Test
  void aListContinuesWhenAFilterMatchesNothing() throws Exception {
    InMemoryTimerStore store = InMemoryTimerStore.create();
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer scheduler =
            DurableTimer.builder(server.watch("slow", new OneByOneStore(store))).start()) {
      for (int i = 0; i < 50; i++) {
        scheduler.schedule(
            TimerSpec.of("shop", "t%02d".formatted(i))
                .after(Duration.ofHours(1))
                .queue(i == 40 ? "rare" : "q"));
      }
      server.serve(scheduler);
      URI list = URI.create("http://127.0.0.1:" + server.port() + LIST + "?handler=rare");
      String body =
          HttpClient.newHttpClient()
              .send(HttpRequest.newBuilder(list).build(), BodyHandlers.ofString())
              .body();
      assertThat(body).contains("\"t40\"").doesNotContain("nextPageToken");
    }
  }

  /** Requests a page, and reads nothing of it. */
  private static Socket unread(Running running) throws IOException {
    return unread(
        running, "GET " + LIST + "?payload=true&pageSize=5000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  private static Socket unread(Running running, String request) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4 * 1024);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), running.server.port()));
    socket.getOutputStream().write(request.getBytes(US_ASCII));
    return socket;
  }

  @Test
  void unreadAnswersTakeALimitedMemory() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofHours(1)))) {
      scheduleLarge(running, Duration.ofHours(1));
      Answer refused;
      do {
        sockets.add(unread(running)); // this one may be refused
        refused = running.get(LIST + "?payload=true&pageSize=5000");
      } while (refused.status() == 200);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("Retry-After")).isEqualTo("1");
      assertThat(running.get("/healthz").status()).isEqualTo(200);
      assertThat(running.put(LIST + "/small", SPEC).status()).isEqualTo(201);
      for (Socket socket : sockets) {
        socket.close();
      }
      Await.until(() -> running.get(LIST + "?payload=true&pageSize=5000").status() == 200);
    }
  }

  @Test
  void aClientThatReadsNothingOfALargeAnswerLosesItsConnection() throws Exception {
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofSeconds(2)))) {
      scheduleLarge(running, Duration.ofHours(1));
      try (Socket socket = unread(running)) {
        Await.until(() -> running.server.connections().count() != 0); // not accepted yet
        Await.until(() -> running.server.connections().count() == 0);
        assertThat(socket.isConnected()).isTrue();
      }
    }
  }

  /** Each answer fits into the send buffer that the system would choose. */
  @Test
  @Timeout(60) // before the leases end
  void firingsThatNoClientReadsAreGivenBackUncounted() throws Exception {
    String body = "{\"max\":10,\"leaseDuration\":\"PT12H\"}";
    String claim =
        "POST /v1/namespaces/shop/queues/q/firings:claim HTTP/1.1\r\nHost: localhost\r\n"
            + "Content-Type: application/json\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body;
    List<Socket> sockets = new ArrayList<>();
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofSeconds(2)))) {
      byte[] payload = ('"' + "x".repeat(40 * 1024) + '"').getBytes(UTF_8);
      for (int i = 0; i < 50; i++) {
        running.scheduler.schedule(
            TimerSpec.of("shop", "t" + i).after(Duration.ZERO).queue("q").payload(payload));
      }
      for (int i = 0; i < 5; i++) {
        sockets.add(unread(running, claim));
      }
      String queues = "/v1/namespaces/shop/queues";
      Await.until(() -> running.get(queues).json().at("/queues/0/running").asInt() == 50);
      Set<String> back = new TreeSet<>();
      while (back.size() < 50) {
        running
            .post("/v1/namespaces/shop/queues/q/firings:claim", "{\"max\":50}")
            .json()
            .get("firings")
            .forEach(
                firing -> {
                  assertThat(firing.get("attempt").asInt()).isEqualTo(1);
                  back.add(firing.get("id").asString());
                });
      }
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  @Timeout(60) // before an idle connection is closed
  void aClientThatReadsNothingOfAStreamLosesItsConnection() throws Exception {
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofSeconds(2)));
        Socket socket =
            unread(running, "GET /v1/events?types=timer HTTP/1.1\r\nHost: localhost\r\n\r\n")) {
      Await.until(() -> running.server.openStreams() == 1);
      for (int i = 0; i < 1_000; i++) {
        running.scheduler.schedule(
            TimerSpec.of("shop", "i".repeat(250) + i).after(Duration.ofHours(1)).queue("q"));
      }
      Await.until(() -> running.server.openStreams() == 0);
      assertThat(socket.isConnected()).isTrue();
    }
  }

  // Bodies

  private static Socket chunked(Running running, String chunk) throws IOException {
    return chunked(running, chunk, "127.0.0.1");
  }

  private static Socket chunked(Running running, String chunk, String forwardedFor)
      throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), running.server.port());
    socket.setSoTimeout(60_000);
    String head =
        "POST "
            + LIST
            + ":batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "X-Forwarded-For: "
            + forwardedFor
            + "\r\nTransfer-Encoding: chunked\r\n\r\n"
            + Integer.toHexString(chunk.length())
            + "\r\n"
            + chunk
            + "\r\n";
    socket.getOutputStream().write(head.getBytes(US_ASCII));
    return socket;
  }

  @Test
  void smallChunkedUploadsBlockNoWriter() throws Exception {
    List<Socket> sockets = new ArrayList<>();
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofHours(1)))) {
      for (int i = 0; i < 8; i++) {
        sockets.add(chunked(running, "{\"timers\":["));
      }
      Await.until(() -> running.server.connections().count() >= 8);
      assertThat(running.put(LIST + "/a", SPEC).status()).isEqualTo(201);
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }

  @Test
  void bodiesThatHaveArrivedTakeALimitedMemory() throws Exception {
    try (Running running = new Running(limits(1 << 20, 10 << 20, Duration.ofHours(1)))) {
      String part = "{\"timers\":[" + " ".repeat(400 << 10);
      String body = part + "{\"id\":\"a\"," + SPEC.substring(1) + "]}";
      List<Socket> sockets = new ArrayList<>();
      Answer refused;
      do {
        sockets.add(chunked(running, part)); // this one may be refused
        refused = running.post(LIST + ":batch", body);
      } while (refused.status() == 200);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("Retry-After")).isEqualTo("1");
      assertThat(running.put(LIST + "/b", SPEC).status()).isEqualTo(201);
      for (Socket socket : sockets) {
        socket.close();
      }
      Await.until(() -> running.post(LIST + ":batch", body).status() == 200); // not detected yet
    }
  }

  @Test
  void oneAddressLeavesHalfOfTheBodiesToTheOthersWithoutTokens() throws Exception {
    Ingress proxy = new Ingress("", List.of(Cidr.parse("127.0.0.1/32")), null);
    UnaryOperator<ServerConfig> limits = limits(1 << 20, 10 << 20, Duration.ofHours(1));
    try (Running running =
        new Running(
            c -> {
              ServerConfig limited = limits.apply(c);
              return new ServerConfig(
                  c.listen(),
                  c.port(),
                  c.hosts(),
                  proxy,
                  c.maxConnections(),
                  c.maxWaitingClaims(),
                  c.maxStreams(),
                  limited.maxBodyBytes(),
                  c.maxBodyTime(),
                  limited.work());
            })) {
      String half = "{\"timers\":[{\"id\":\"a\"," + SPEC.substring(1) + "]}";
      half += " ".repeat((1 << 19) - half.length());
      Answer more = running.post(LIST + ":batch", half + " ", "X-Forwarded-For", "192.0.2.1");
      assertThat(more.status()).isEqualTo(503);
      assertThat(more.text("detail")).contains("too many bytes of bodies");
      List<Socket> sockets = new ArrayList<>();
      Answer refused;
      do {
        sockets.add(chunked(running, half, "192.0.2.1")); // this one may be refused
        refused = running.post(LIST + ":batch", half, "X-Forwarded-For", "192.0.2.1");
      } while (refused.status() == 200);
      Answer other = running.post(LIST + ":batch", half, "X-Forwarded-For", "192.0.2.2");
      assertThat(other.status()).isEqualTo(200);
      for (Socket socket : sockets) {
        socket.close();
      }
    }
  }
}
