// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import tools.jackson.databind.node.ObjectNode;

/** The list of timers, a timer, and the form that makes one. */
class TimersTest extends ConsoleTest {
  // Many

  @Test
  void keepsFiltersInTheAddress() {
    site.timers.put("shop", "order-1", LATER);
    site.timers.put("shop", "order-2", LATER).put("state", "paused");
    site.timers.put("shop", "invoice-1", LATER).put("state", "paused");
    show("#/timers?ns=shop&prefix=order-&state=paused");
    awaitRows("order-2");
    assertThat(browser.text(".count")).isEqualTo("1 timer");
    assertThat(browser.holds("document.getElementById('search').value === 'order-'")).isTrue();

    browser.click("select[aria-label=State] option[value=scheduled]");
    browser.await("the address", () -> browser.address().contains("state=scheduled"));
    awaitRows("order-1");

    show(browser.address().substring(site.address().length() + 1));
    awaitRows("order-1");
  }

  @Test
  void listsWhatIsDueWithinASpan() {
    site.timers.put("shop", "invoice-1", LATER);
    show("#/timers?ns=shop&from=2099-06-01T09:00:00Z&to=2099-06-01T10:00:00Z");
    awaitRows("invoice-1");
    show("#/timers?ns=shop&from=2099-06-01T09:31:00Z&to=2099-06-01T10:00:00Z");
    browser.awaitText("main", "No timer matches");
  }

  @Test
  void asksForTheNumberBeforeItCancelsMany() {
    expectComplaints("409");
    IntStream.range(0, 3).forEach(i -> site.timers.put("bulk", "old-" + i, LATER));
    site.timers.put("bulk", "new", LATER);
    show("#/timers?ns=bulk&prefix=old-");
    browser.awaitText(".count", "3 timers");
    browser.click("[data-verb=cancel]");
    browser.awaitText("dialog", "3 timers of bulk");

    browser.press("2", Keys.ENTER);
    browser.awaitText("dialog .problem", "That is not 3");
    site.timers.put("bulk", "old-3", LATER); // meanwhile
    browser.press(Keys.BACK_SPACE, "3", Keys.ENTER);
    browser.awaitText("dialog .problem", "4 timers");
    assertThat(state("bulk", "old-0")).isEqualTo("scheduled");

    browser.press("4", Keys.ENTER);
    browser.awaitText("main", "No timer matches");
    assertThat(state("bulk", "old-0")).isEqualTo("cancelled");
    assertThat(state("bulk", "new")).isEqualTo("scheduled");
  }

  @Test
  void holdsElementsOnlyForWhatIsInSight() {
    for (int i = 0; i < 100_000; i++) {
      site.timers
          .put("many", "t-%06d".formatted(i), LATER)
          .put("createdAt", "2026-01-01T00:00:00Z");
    }
    site.timers.get("many", "t-050000").put("createdAt", "2025-01-01T00:00:00Z");
    show("#/timers?ns=many");
    browser.awaitText(".count", "100,000 timers");
    browser.await("the first row", () -> rows().contains("t-000000"));
    assertThat(rows()).hasSizeLessThan(60);
    browser.await("the oldest, which is the last", () -> scrolledTo("t-050000"));
    assertThat(rows()).hasSizeLessThan(60);

    site.timers.put("many", "t-100000", LATER);
    show("#/timers?ns=many&prefix=t-");
    browser.awaitText(".count", "The first 100,000: narrow the filter");
  }

  private boolean scrolledTo(String id) {
    browser.evaluate(
        "const list = document.querySelector('.list'); list.scrollTop = list.scrollHeight;");
    return rows().contains(id);
  }

  // One

  @Test
  void makesPausesAndCancelsATimer() {
    show("#/new?ns=made");
    type("Id", "order-7");
    type("Fires after", "90 min");
    browser.awaitText(".said", "After 1 h 30 min");
    type("Queue", "orders");
    type("Payload", "{\"order\": 7}");
    browser.click("button[type=submit]");
    browser.awaitText("h1", "order-7");
    assertThat(browser.address()).endsWith("#/timer/made/order-7");
    assertThat(site.timers.get("made", "order-7").path("payload").toString())
        .isEqualTo("{\"order\":7}");

    browser.click("[data-verb=pause]");
    browser.awaitText(".heading .badge", "Paused");
    assertThat(state("made", "order-7")).isEqualTo("paused");
    browser.click("[data-verb=resume]");
    browser.awaitText(".heading .badge", "Scheduled");
    browser.click("[data-verb=cancel]");
    browser.awaitText("dialog", "never fires again");
    browser.click("dialog button[type=submit]");
    browser.awaitText(".heading .badge", "Cancelled");
    assertThat(state("made", "order-7")).isEqualTo("cancelled");
  }

  @Test
  void keepsWhatItDoesNotShowWhenItSaves() {
    site.timers.put(
        "made",
        "kept",
        """
        {"at":"2099-06-01T09:30:00.123Z","target":{"queue":"orders"},
         "headers":{"a":"b"},"grace":"PT7M","payload":[1234567890123456789]}
        """);
    show("#/edit/made/kept");
    type("Queue", "others");
    browser.click("button[type=submit]");
    browser.awaitText("main", "into the queue others");
    assertThat(site.timers.get("made", "kept").toString())
        .contains("2099-06-01T09:30:00.123Z", "{\"a\":\"b\"}", "PT7M", "others")
        .contains("[1234567890123456789]");
  }

  @Test
  void tellsWhatHappenedAndWhatComes() {
    ObjectNode timer = site.timers.put("told", "a", failed("no paper")).put("state", "running");
    show("#/timer/told/a");
    browser.awaitText(".heading .badge", "Running");
    site.become(timer, "failed");
    browser.awaitText(".heading .badge", "Failed"); // by the event alone
    assertThat(browser.text(".timeline"))
        .contains("Attempt 1: failed")
        .contains("no paper")
        .contains("took 3 s");
    browser.click("[data-verb=retry]");
    browser.awaitText(".heading .badge", "Ready");
  }

  @Test
  void saysThatThereIsNoSuchTimer() {
    expectComplaints("404");
    show("#/timer/shop/none");
    browser.awaitText("main", "There is no such timer");
  }

  @Test
  void spellsOutWhatTheClocksDo() {
    site.timers.put(
        "shop",
        "nightly",
        """
        {"cron":"30 2 * * *","zone":"Europe/Berlin","target":{"queue":"orders"},"dueAt":"2099-03-28T01:30:00Z",
         "next":["2099-03-28T01:30:00Z","2099-03-29T01:00:00Z","2099-03-30T00:30:00Z"]}
        """);
    show("#/timer/shop/nightly");
    browser.awaitText("main", "Every day at 02:30");
    assertThat(browser.text(".runs").lines().filter(line -> !line.isBlank()))
        .containsExactly(
            "Sat, 28 Mar 2099, 02:30 UTC+01:00",
            "The clocks go forward 1 h on Sun, 29 Mar 2099: from UTC+01:00 to UTC+02:00",
            "Sun, 29 Mar 2099, 03:00 UTC+02:00",
            "The clocks skip the time that the cron names; it runs as the gap ends.",
            "Mon, 30 Mar 2099, 02:30 UTC+02:00");
  }
}
