// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.settings.Ingress;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests the console with a Timewheel server. Only this class verifies that the stand-in answers
 * like the server.
 */
@ExtendWith(InBrowser.class)
class RealServerTest {
  private static final String TIMER = "/v1/namespaces/shop/timers/order-1";

  @Test
  void showsATimerOfTheApiAndCancelsIt(Browser browser) throws IOException, InterruptedException {
    browser.complaints();
    browser.size(1280, 900);
    try (RealServer server = new RealServer(Ingress.DIRECT)) {
      browser.go(server.address() + "/");
      browser.awaitText(".verdict", "Nothing was due");
      browser.awaitText("main", "No timers yet");
      browser.awaitText(".live", "Live");

      server.put(
          TIMER,
          "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"},\"payload\":12345678901234567890}");
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
      assertThat(server.get(TIMER)).contains("\"state\":\"cancelled\"");

      assertThat(browser.complaints()).isEmpty();
      browser.go("about:blank");
    }
  }

  @Test
  void worksUnderAPathPrefix(Browser browser) throws IOException, InterruptedException {
    browser.complaints();
    try (RealServer server = new RealServer(new Ingress("/tools/timers", List.of(), null))) {
      browser.go(server.address()); // the server adds the slash
      browser.awaitText(".live", "Live");
      browser.awaitText("main", "curl -X PUT " + server.address() + "/v1/namespaces/");

      server.put(TIMER, "{\"after\":\"PT480H\",\"target\":{\"queue\":\"orders\"}}");
      browser.await("the news of it", () -> !browser.text("main").contains("No timers yet"));
      browser.press("3");
      browser.click(".rows a");
      browser.awaitText("main", "into the queue orders");

      assertThat(browser.complaints()).isEmpty();
      browser.go("about:blank");
    }
  }
}
