// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.server.TimewheelServer;
import io.timewheel.server.settings.Ingress;
import io.timewheel.server.settings.ServerConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The console in front of the server itself: what the stand-in answers must be what it answers. */
@ExtendWith(InBrowser.class)
class RealServerTest {
  private static final String TIMER = "/v1/namespaces/shop/timers/order-1";

  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void showsATimerOfTheApiAndCancelsIt(Browser browser) throws IOException, InterruptedException {
    browser.complaints();
    browser.size(1280, 900);
    try (TimewheelServer server = TimewheelServer.start(ServerConfig.loopback(0));
        DurableTimer timer =
            DurableTimer.builder(server.watch("memory", InMemoryTimerStore.create())).start()) {
      server.serve(timer);
      String address = "http://127.0.0.1:" + server.port();
      browser.go(address + "/");
      browser.awaitText(".verdict", "Nothing was due");
      browser.awaitText("main", "No timers yet");
      browser.awaitText(".live", "Live");

      send(
          HttpRequest.newBuilder(URI.create(address + TIMER))
              .header("Content-Type", "application/json")
              .PUT(
                  BodyPublishers.ofString(
                      "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"},\"payload\":12345678901234567890}")));
      browser.await("the news of it", () -> !browser.text("main").contains("No timers yet"));
      browser.press("2");
      browser.awaitText(".wheel-summary", "1 within a year");
      browser.press("3");
      browser.click(".rows a");
      browser.awaitText("main", "into the queue orders");
      browser.awaitText("main", "12345678901234567890");
      browser.click("[data-verb=pause]");
      browser.awaitText(".heading .badge", "Paused");
      browser.click("[data-verb=resume]");
      browser.awaitText(".heading .badge", "Scheduled");
      browser.click("[data-verb=cancel]");
      browser.click("dialog button[type=submit]");
      browser.awaitText(".heading .badge", "Cancelled");
      assertThat(send(HttpRequest.newBuilder(URI.create(address + TIMER))))
          .contains("\"state\":\"cancelled\"");

      assertThat(browser.complaints()).isEmpty();
      browser.go("about:blank");
    }
  }

  @Test
  void worksUnderAPathPrefix(Browser browser) throws IOException, InterruptedException {
    browser.complaints();
    ServerConfig direct = ServerConfig.loopback(0);
    ServerConfig config =
        new ServerConfig(
            direct.listen(),
            direct.port(),
            direct.hosts(),
            new Ingress("/tools/timers", List.of(), null),
            direct.maxConnections(),
            direct.maxWaitingClaims(),
            direct.maxStreams(),
            direct.maxBodyBytes(),
            direct.maxBodyTime(),
            direct.work());
    try (TimewheelServer server = TimewheelServer.start(config);
        DurableTimer timer =
            DurableTimer.builder(server.watch("memory", InMemoryTimerStore.create())).start()) {
      server.serve(timer);
      String address = "http://127.0.0.1:" + server.port() + "/tools/timers";
      browser.go(address); // the server adds the slash
      browser.awaitText(".live", "Live");
      browser.awaitText("main", "curl -X PUT " + address + "/v1/namespaces/");

      send(
          HttpRequest.newBuilder(URI.create(address + TIMER))
              .header("Content-Type", "application/json")
              .PUT(
                  BodyPublishers.ofString(
                      "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}")));
      browser.await("the news of it", () -> !browser.text("main").contains("No timers yet"));
      browser.press("3");
      browser.click(".rows a");
      browser.awaitText("main", "into the queue orders");

      assertThat(browser.complaints()).isEmpty();
      browser.go("about:blank");
    }
  }

  private String send(HttpRequest.Builder request) throws IOException, InterruptedException {
    return client.send(request.build(), BodyHandlers.ofString()).body();
  }
}
