// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URLEncoder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/**
 * Tests the common properties of all pages. It alone proves that each page has no serious barrier
 * for axe-core and does not scroll sideways, in light and dark, on a telephone and a desktop, with
 * no timer and with thousands; and that names with markup remain text, keys work, a token stays in
 * its tab, and a lost server is reported.
 */
@Tag("proof")
class PagesTest extends ConsoleTest {
  /** The longest name: 256 bytes, without a space. */
  private static final String EVIL =
      "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"
          + "x".repeat(170);

  private static final List<String> PAGES =
      List.of(
          "#/",
          "#/?ns=shop-1",
          "#/?ns=none",
          "#/wheel",
          "#/wheel?ns=none",
          "#/timers",
          "#/timers?ns=shop-1&state=all",
          "#/timers?ns=none",
          "#/timer/shop/nightly",
          "#/timer/shop/broken",
          "#/edit/shop/nightly",
          "#/new",
          "#/queues",
          "#/queues?ns=mail",
          "#/queues?ns=none",
          "#/cluster");

  /** Texts of the pages with timers. */
  private static final Map<String, String> TEXTS =
      Map.of(
          "#/timer/shop/broken", "HTTP 502 Bad Gateway",
          "#/queues", "ready timers. The queue that has waited longest is first.",
          "#/cluster", "One node uses an embedded store");

  /** True if a page shows more than a place for its content. */
  private static final String DRAWN =
      "document.querySelector('h1')"
          + " && !/Loading|^–$/m.test(document.querySelector('main').innerText)"
          + " && document.querySelector('main').innerText.length >= 40";

  private static final String EVIL_PATH = URLEncoder.encode(EVIL, UTF_8).replace("+", "%20");

  // Widths, colours, accessibility

  /**
   * Each pair of timers and colours, timers and width, and colours and width occurs. The pages with
   * timers include those of an empty namespace.
   */
  @ParameterizedTest
  @CsvSource({"2000, light, 400", "2000, dark, 1280", "0, light, 1280", "0, dark, 400"})
  void hasNoBarrierOnAnyPage(int timers, String scheme, int width) {
    if (timers > 0) {
      put(timers);
    } else {
      expectComplaints("404"); // the timers of the timer pages are absent
    }
    browser.size(width, 900);
    browser.colours(scheme);
    show("#/nowhere");
    browser.awaitText("main", "There is no such page");
    hasNoBarrier("#/nowhere");
    for (String page : PAGES) {
      follow(page);
      browser.awaitTrue(page, DRAWN);
      if (timers > 0 && TEXTS.containsKey(page)) {
        browser.awaitText("main", TEXTS.get(page));
      }
      hasNoBarrier(page);
    }
    follow("#/timer/shop/nightly");
    browser.awaitText("main", timers > 0 ? "Next runs" : "There is no such timer");
  }

  private void hasNoBarrier(String page) {
    assertThat(barriers()).as(page).isEmpty();
    assertThat(scrollsSideways()).as(page + " scrolls sideways by").isZero();
  }

  private void put(int timers) {
    Instant now = Instant.now();
    List<String> states = List.of("scheduled", "ready", "failed", "retrying", "blocked", "paused");
    for (int i = 0; i < timers; i++) {
      site.timers
          .put("shop-" + i % 30, "order-" + i, failed("HTTP 502"))
          .put("state", states.get(i / 30 % states.size()))
          .put("dueAt", now.plusSeconds(i * 37L - 600).toString())
          .putObject("target")
          .put("queue", "queue-" + i % 30 % 7);
    }
    site.timers.put(
        "shop",
        "nightly",
        """
        {"cron":"30 2 * * *","zone":"Europe/Berlin","target":{"queue":"orders"},
         "dueAt":"2099-03-28T01:30:00Z","next":["2099-03-28T01:30:00Z","2099-03-29T01:00:00Z"]}
        """);
    site.timers.put("shop", "broken", failed("HTTP 502 Bad Gateway"));
    site.timers.put("shop", "invoice-1", LATER).put("dueAt", now.plusSeconds(4_000_000).toString());
    site.timers.put("mail", "waits", LATER).put("state", "ready");
  }

  // Names

  @Test
  void showsMarkupInAnyNameAsText() {
    browser.size(400, 900);
    site.timers
        .put(EVIL, EVIL, failed(EVIL))
        .put("payload", EVIL)
        .putObject("target")
        .put("url", EVIL)
        .put("secret", EVIL);
    site.timers.put(EVIL, EVIL + "3", LATER).putObject("target").put("queue", EVIL);
    site.timers.get(EVIL, EVIL).putObject("headers").put(EVIL, EVIL);
    site.timers.put(
        EVIL, EVIL + "2", "{\"at\":\"2099-06-01T09:30:00Z\",\"target\":{\"handler\":\"x\"}}");
    site.becomeCluster(
        """
        {"shared":true,"nodes":[{"id":%1$s,"address":%1$s,"version":%1$s,"handlers":[%1$s]}],
         "shards":[{"shard":0,"owner":%1$s,"epoch":1}]}
        """
            .formatted(quoted(EVIL)));
    site.timers.figures = "{\"paused\":[" + quoted(EVIL) + "]}";
    show("#/nowhere");
    for (String page :
        List.of(
            "#/?ns=" + EVIL_PATH,
            "#/wheel?ns=" + EVIL_PATH,
            "#/timers?ns=" + EVIL_PATH + "&state=all&prefix=" + EVIL_PATH,
            "#/timers?state=" + EVIL_PATH,
            "#/timer/" + EVIL_PATH + "/" + EVIL_PATH,
            "#/edit/" + EVIL_PATH + "/" + EVIL_PATH,
            "#/new?ns=" + EVIL_PATH,
            "#/queues?ns=" + EVIL_PATH,
            "#/cluster")) {
      follow(page);
      awaitAsText(page);
    }

    follow("#/timer/" + EVIL_PATH + "/" + EVIL_PATH);
    browser.click("[data-verb=cancel]");
    browser.awaitText("dialog", EVIL);
    awaitAsText("the question before it is cancelled");
    browser.press(Keys.ESCAPE);
    follow("#/timers?ns=" + EVIL_PATH + "&state=all&prefix=" + EVIL_PATH);
    browser.awaitText(".count", "3 timers");
    browser.click(".row.head input");
    browser.click("[data-verb=cancel]");
    browser.awaitText("dialog", EVIL);
    awaitAsText("the question before many are cancelled");
  }

  @Test
  void showsMarkupOfTheServersWordsAsText() {
    expectComplaints("503");
    site.refusal = EVIL;
    show("#/nowhere");
    for (String page :
        List.of("#/wheel", "#/timers?ns=a", "#/cluster", "#/timer/a/b", "#/edit/a/b")) {
      follow(page);
      awaitAsText(page);
    }
    follow("#/new?ns=a");
    type("ID", "b");
    type("Fires after", "1s");
    browser.click("button[type=submit]");
    awaitAsText("the form that was refused");
  }

  private void awaitAsText(String what) {
    browser.awaitTrue(
        what + " with the name as text",
        "document.body.innerText.includes(arguments[0]) ||"
            + " [...document.querySelectorAll('input, select')]"
            + ".some(each => each.value.includes(arguments[0]))",
        EVIL);
    assertThat(
            browser.evaluate(
                "return [document.querySelectorAll('img:not(.brand img), body script').length,"
                    + " document.title.startsWith('taken')];"))
        .as(what)
        .isEqualTo(List.of(0L, false));
    assertThat(scrollsSideways()).as(what + " scrolls sideways by").isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"#/?ns=none", "#/wheel?ns=none", "#/timers?ns=none"})
  void showsTheFirstStepsOnEmptyPages(String page) {
    show(page);
    browser.awaitText("main", "curl -X PUT " + site.address() + "/v1/namespaces/");
  }

  // Keys, colours

  @Test
  void goesByKeys() {
    site.timers.put("shop", "order-1", LATER).put("createdAt", "2026-01-01T00:00:00Z");
    site.timers.put("shop", "order-2", LATER).put("createdAt", "2026-01-02T00:00:00Z");
    show("#/");
    browser.press("?");
    browser.awaitText("dialog", "Pause or resume live updates");
    browser.press(Keys.ESCAPE);
    browser.await("no dialog", () -> browser.all("dialog").isEmpty());
    List<String> pages = List.of("Now", "Wheel", "Timers", "Queues");
    for (int key = 4; key >= 1; key--) {
      browser.press(String.valueOf(key));
      browser.awaitText("h1", pages.get(key - 1));
    }
    browser.press("/");
    awaitFocus("#search");
    browser.press("order-");
    browser.await("the search in the address", () -> browser.address().contains("prefix=order-"));
    awaitRows("order-2", "order-1");
    browser.press(Keys.ENTER);
    awaitFocus(".row.active a");
    browser.press("jjk");
    browser.await("order-2 active", () -> browser.text(".row.active").contains("order-2"));
    browser.press(Keys.ENTER);
    browser.awaitText("h1", "order-2");
    browser.awaitText(".actions", "Edit");
    browser.press("e");
    browser.awaitText("h1", "Edit order-2");
    browser.press("n");
    browser.awaitText("h1", "Create timer");
  }

  private void awaitFocus(String selector) {
    browser.awaitTrue(
        "the focus at " + selector, "document.activeElement.matches(arguments[0])", selector);
  }

  @ParameterizedTest
  @ValueSource(strings = {"light", "dark"})
  void storesTheChosenColours(String theme) {
    show("#/");
    browser.await(theme, () -> pressedUntil(theme));
    show("#/queues");
    assertThat(theme()).isEqualTo(theme);
  }

  private boolean pressedUntil(String theme) {
    browser.press("t");
    return theme.equals(theme());
  }

  private Object theme() {
    return browser.evaluate("return document.documentElement.dataset.theme;");
  }

  @Test
  void worksWithoutTheStorageOfTheBrowser() {
    expectComplaints("401");
    site.token = "sesame";
    site.timers.put("shop", "broken", failed("x"));
    browser.withoutStorage(
        () -> {
          browser.go(site.address() + "/");
          browser.awaitText("dialog", "requires a token");
          browser.press("sesame", Keys.ENTER);
          browser.awaitText(".verdict", "1 timer needs you");
          browser.await("dark", () -> pressedUntil("dark"));
          follow("#/wheel");
          browser.awaitText("h1", "Wheel");
          browser.awaitText(".wheel-summary", "due within");
        });
  }

  // Live

  @Test
  void pausesAndResumes() {
    show("#/timers?ns=live");
    browser.press("p");
    browser.awaitText(".live", "Paused");
    browser.press("p");
    browser.awaitText(".live", "Live");
    site.tell(site.timers.put("live", "new", LATER), "created");
    awaitRows("new");
  }

  @Test
  void reportsALostServerUntilItIsBack() throws IOException {
    expectComplaints("net::ERR_");
    site.timers.put("shop", "broken", failed("x"));
    show("#/");
    browser.awaitText(".verdict", "1 timer needs you");
    site.goAway(true);
    browser.awaitText(".live", "Reconnecting");
    browser.awaitText(".verdict", "The server does not answer");
    site.goAway(false);
    browser.awaitText(".verdict", "1 timer needs you");
    browser.awaitText(".live", "Live");
  }

  @Test
  void holdsNoConnectionWhenItIsOutOfSight() {
    for (int visit = 0; visit < 7; visit++) { // six connections; pages are cached
      show("#/");
    }
  }

  // Tokens

  @Test
  void asksForATokenAndKeepsItInTheTab() {
    expectComplaints("401");
    site.token = "sesame";
    site.timers.put("shop", "broken", failed("x"));
    browser.go(site.address() + "/");
    browser.awaitText("dialog", "requires a token");
    browser.press("wrong", Keys.ENTER);
    browser.awaitText("dialog", "refused the last token");
    browser.press("sesame", Keys.ENTER);
    browser.awaitText(".live", "Live");
    browser.awaitText(".verdict", "1 timer needs you");
    assertThat(
            browser.evaluate(
                "return [localStorage.length, document.cookie, location.href.includes('sesame')];"))
        .isEqualTo(List.of(0L, "", false));
  }
}
