// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openqa.selenium.Keys;

/**
 * Tests the pages Now, Wheel, Queues and Cluster. It alone proves that they show the figures of the
 * server, name each problem with its first step, pause queues and namespaces, and play the way of a
 * timer on the first visit.
 */
@Tag("proof")
class ViewsTest extends ConsoleTest {
  @Test
  void reportsTheFailureOfTheConnection() {
    site.timers.put("wrong", "a", failed("x"));
    site.timers.put("wrong", "b", LATER);
    show("#/?ns=wrong");
    browser.awaitText(".problems", "Failed");
    assertThat(browser.text(".problems")).contains("First step");
    browser.click(".problems a");
    awaitRows("a");
    assertThat(browser.address()).contains("ns=wrong").contains("state=failed");
  }

  @Test
  void showsTheWorstProblemFirst() {
    site.timers.figures = "{\"storeAvailable\":false,\"overdue\":7,\"paused\":[\"*\"]}";
    show("#/");
    browser.awaitText(".verdict", "The store does not answer");
    assertThat(browser.text(".problems"))
        .containsSubsequence(
            "Check the space", "Overdue", "All timers are paused", "Resume all timers");
    assertThat(barriers()).isEmpty();
  }

  @Test
  void answersInOneLookup() {
    Instant now = Instant.now();
    site.timers.put("look", "failed", failed("x"));
    for (int i = 0; i < 28; i++) {
      site.timers
          .put("look", "ready-" + i, LATER)
          .put("state", "ready")
          .put("dueAt", now.minus(Duration.ofHours(50)).minusSeconds(i).toString());
    }
    Instant peak = now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(20 * 60);
    for (int i = 0; i < 30; i++) {
      site.timers.put(
          "look", "peak-" + i, "{\"at\":\"" + peak.plusSeconds(i) + "\"," + QUEUE + "}");
    }
    site.timers.put("look", "soon", "{\"at\":\"" + now.plusSeconds(600) + "\"," + QUEUE + "}");
    show("#/?ns=look");
    browser.awaitText(".verdict", "On time, but 1 timer needs you");
    browser.awaitText(".tiles", "in orders, 28 ready");
    assertThat(browser.text(".tiles")).containsPattern("Failed\\s+1\\s").contains("2 d 2 h");
    assertThat(browser.text(".tiles")).contains("30 timers in a minute, in ");
    assertThat(label(".coming .bars"))
        .startsWith("31 timers are due within the next hour. The peak");
    browser.awaitText(".coming .peak-label", ": 30");
    assertThat(label(".past .plot")).contains("At most 0.1 attempts a second");
    assertThat(browser.all(".past path.line")).hasSize(5);
    assertThat(
            (String)
                browser.evaluate(
                    "return document.querySelector('.past path.line.bad').getAttribute('d');"))
        .as("the line of failures, in the one minute that has some")
        .matches("M[0-9. ]+h0");
    browser.awaitText(".problems", "Queue behind: orders");
    assertThat(browser.text(".problems")).contains("28").doesNotContain("Nothing is wrong");
    assertThat(browser.text(".attention")).doesNotContain("No timer is overdue");
    browser.awaitText(".waiting", "orders");
    browser.click(".twin.whole summary");
    browser.awaitText(".twin.whole", "Lag of 99 %");
    assertThat(barriers()).isEmpty();
  }

  @Test
  void tellsHowManyNamespacesWithReadyTimersItLeavesOut() {
    for (int i = 0; i < 23; i++) {
      site.timers.put("team-%02d".formatted(i), "a", LATER).put("state", "ready");
    }
    site.timers.put("idle", "a", LATER);
    show("#/");
    browser.awaitText(".waiting .notice", "the queues of 3 namespaces with fewer ready timers");
    show("#/?ns=team-01");
    browser.awaitText(".waiting", "orders");
    assertThat(browser.all(".waiting .notice:not([hidden])")).isEmpty();
  }

  private String label(String selector) {
    return (String)
        browser.evaluate("return document.querySelector(arguments[0]).ariaLabel;", selector);
  }

  @ParameterizedTest
  @ValueSource(ints = {360, 400})
  void showsTheNextHourOnTheFirstScreenOfATelephone(int width) {
    site.timers.put("shop", "broken", failed("x"));
    site.timers.put("shop", "soon", "{\"after\":\"PT1M\"," + QUEUE + "}");
    browser.size(width, 800);
    show("#/?ns=shop");
    browser.awaitText(".coming", "within the next hour");
    assertThat(
            (long)
                browser.evaluate(
                    "return Math.ceil(document.querySelector('.coming .ticks')"
                        + ".getBoundingClientRect().bottom);"))
        .as("the lower edge of the chart")
        .isLessThanOrEqualTo(800);
  }

  @Test
  void listsQueuesAndPausesThem() {
    site.timers.put("shop", "a", LATER).put("state", "ready").put("dueAt", "2026-01-01T00:00:00Z");
    site.timers.put(
        "shop", "b", "{\"at\":\"2099-01-01T00:00:00Z\",\"target\":{\"queue\":\"mails\"}}");
    show("#/queues?ns=shop");
    browser.awaitText(".queues", "orders");
    assertThat(browser.text(".queues").lines().filter(line -> line.matches("(orders|mails).*")))
        .first()
        .asString()
        .as("the queue that has waited longest")
        .startsWith("orders");
    browser.click("[aria-label='Pause queue orders']");
    browser.awaitText("dialog", "Consumers claim no timer of orders");
    assertThat(barriers()).isEmpty();
    browser.click("dialog button[type=submit]");
    browser.awaitText(".queues", "Paused");
    assertThat(site.timers.pausedQueues).containsExactly(List.of("shop", "orders"));
    browser.click("[aria-label='Resume queue orders']");
    browser.await("no pause", () -> !browser.text(".queues").contains("Paused"));
    assertThat(site.timers.pausedQueues).isEmpty();

    browser.click("[data-verb=pause-namespace]");
    browser.click("dialog button[type=submit]");
    browser.awaitText("main", "This namespace is paused");
    browser.click("[data-verb=resume-namespace]");
    browser.await("no pause", () -> !browser.text("main").contains("This namespace is paused"));
    browser.click(".queues a");
    awaitRows("a");
    assertThat(browser.address()).contains("queue=orders");
  }

  @Test
  void showsTheClusterOnlyWhereNodesShareAStore() {
    show("#/queues");
    browser.press("5");
    browser.press("4");
    browser.awaitText("main", "No queues");
    assertThat(browser.text("nav")).doesNotContain("Cluster");
    site.becomeCluster(cluster("node-1", "node-2", true));
    browser.awaitText("nav", "Cluster");
    browser.press("5");
    browser.awaitText("main", "2 live nodes share one database");
  }

  @Test
  void listsTheTimersOfASlot() {
    Instant at = Instant.now().plusSeconds(40 * 86_400);
    site.timers.put("wheel", "far", "{\"at\":\"" + at + "\"," + QUEUE + "}");
    show("#/wheel?ns=wheel");
    browser.awaitText(".wheel-summary", "1 within a year");
    for (int ring = 0; ring < 3; ring++) {
      browser.press(Keys.ARROW_UP);
    }
    browser.awaitText(".slot-list", "far");
    browser.click(".wheel-right > .twin summary");
    browser.awaitText(".wheel-right > .twin", "Ring of the year: 1 timer");
    browser.press(Keys.ESCAPE);
    browser.awaitText(".slot", "Choose a slot");
  }

  @Test
  void showsTheSlotsOfTheWheelInUtcUnderAClockInUtc() {
    browser.zone("America/New_York");
    Instant at = Instant.now().plusSeconds(40 * 86_400).truncatedTo(ChronoUnit.DAYS);
    site.timers.put("wheel", "midnight", "{\"at\":\"" + at + "\"," + QUEUE + "}");
    show("#/wheel?ns=wheel");
    browser.awaitText(".wheel-summary", "1 within a year");
    browser.await(
        "the clock in UTC", () -> wheelShows(Instant.now().truncatedTo(ChronoUnit.SECONDS)));
    assertThat(drawn(".wheel")).contains("UTC, local ");
    browser.press(Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_UP);
    String day =
        DateTimeFormatter.ofPattern("d MMM", Locale.UK).withZone(ZoneOffset.UTC).format(at);
    browser.awaitText(".slot h2", day);
    assertThat(browser.text(".slot h2")).endsWith("UTC");
    browser.awaitText(".slot-list", "midnight");
    assertThat(browser.text(".shades")).contains("10–99").contains("10,000–99,999");
    assertThat(drawn(".numerals")).contains("Jan").contains("45").contains("18");
  }

  /** {@return the text of a part of the picture} */
  private String drawn(String selector) {
    return (String)
        browser.evaluate("return document.querySelector(arguments[0]).textContent;", selector);
  }

  /** Returns whether the wheel shows the time, with a delay of at most two seconds. */
  private boolean wheelShows(Instant now) {
    String shown = drawn(".wheel-time");
    return Stream.iterate(now, each -> each.minusSeconds(1))
        .limit(3)
        .anyMatch(each -> each.toString().contains("T" + shown + "Z"));
  }

  @Test
  void playsTheWayOfOneTimerOnTheFirstVisit() {
    browser.size(800, 600);
    site.timers.put(
        "wheel", "a", "{\"at\":\"" + Instant.now().plusSeconds(9_000_000) + "\"," + QUEUE + "}");
    show("#/wheel");
    browser.awaitText(".wheel-readout", "Far from its time");
    Object places =
        browser.evaluate(
            "return ['.wheel', '.wheel-readout'].map(each =>"
                + " document.querySelector(each).getBoundingClientRect())"
                + ".flatMap(box => [box.left, box.right, box.bottom].map(Math.round));");
    List<Long> edges = ((List<?>) places).stream().map(each -> (Long) each).toList();
    assertThat(edges.get(3)).as("left of the readout").isGreaterThanOrEqualTo(edges.get(1));
    assertThat(edges.get(5)).as("bottom of the readout").isLessThanOrEqualTo(600);
    browser.press(Keys.ARROW_RIGHT);
    browser.await("no traveller", () -> browser.all(".traveller").isEmpty());
    show("#/wheel");
    browser.awaitText(".wheel-readout", "opens");
    assertThat(browser.all(".traveller")).isEmpty();
    browser.click(".about .button");
    browser.awaitText(".wheel-readout", "Far from its time");
  }

  @Test
  void explainsAnEmptyWheel() {
    site.timers.put("empty", "a", failed("x"));
    show("#/wheel?ns=empty");
    browser.awaitText("main", "The others have left the wheel: 1 failed.");
    show("#/wheel?ns=none");
    browser.awaitText("main", "appears in the slot of its second");
    assertThat(barriers()).isEmpty();
  }

  @Test
  void showsShardsThatChangeHands() {
    site.becomeCluster(cluster("node-1", "node-2", true));
    show("#/cluster");
    browser.awaitText("main", "2 live nodes share one database");
    site.becomeCluster(cluster("node-1", null, false));
    browser.awaitText("main", "1 shard without an owner");
    assertThat(browser.text(".node.lost")).contains("node-2").contains("lost");
    assertThat(barriers()).isEmpty();
    site.becomeCluster(cluster("node-1", "node-1", false));
    browser.await("no orphan", () -> !browser.text("main").contains("without an owner"));
    assertThat(browser.text(".node:not(.lost)")).contains("2 of 2");
  }

  private static String cluster(String first, @Nullable String second, boolean bothAlive) {
    return """
    {"shared":true,"nodes":[{"id":"node-1","self":true,"alive":true,"clockOffset":"PT0.8S"},{"id":"node-2","alive":%s}],
     "shards":[{"shard":0,"owner":"%s","epoch":1},{"shard":1,"epoch":2%s}]}
    """
        .formatted(bothAlive, first, second == null ? "" : ",\"owner\":\"" + second + "\"");
  }
}
