// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import tools.jackson.databind.node.ObjectNode;

/**
 * Tests the list of timers, the page of a timer, and the form that creates one. It alone proves
 * that users can find, select, change, create and edit timers in the console, and that the list
 * holds 100,000 timers.
 */
@Tag("proof")
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
  void listsTimersDueWithinASpan() {
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
    browser.click(".row.head input");
    browser.click("[data-verb=cancel]");
    browser.awaitText("dialog", "3 timers of bulk");

    browser.press("2", Keys.ENTER);
    browser.awaitText("dialog .problem", "Type 3 to continue");
    site.timers.put("bulk", "old-3", LATER); // created meanwhile
    browser.press(Keys.BACK_SPACE, "3", Keys.ENTER);
    browser.awaitText("dialog .problem", "4 timers");
    assertThat(state("bulk", "old-0")).isEqualTo("scheduled");

    browser.press("4", Keys.ENTER);
    browser.awaitText("main", "No timer matches");
    assertThat(state("bulk", "old-0")).isEqualTo("cancelled");
    assertThat(state("bulk", "new")).isEqualTo("scheduled");
  }

  @Test
  void changesAllTimersOfAQueueAndNoOthers() {
    for (String id : List.of("a", "b")) {
      site.timers.put("bulk", id, LATER);
      site.timers.put("bulk", "mail-" + id, LATER).putObject("target").put("queue", "mails");
    }
    show("#/timers?ns=bulk");
    browser.click(".queue-filter");
    browser.press("mails", Keys.ENTER);
    browser.awaitText(".count", "2 timers");
    assertThat(rows()).containsExactlyInAnyOrder("mail-a", "mail-b");
    assertThat(browser.address()).contains("queue=mails");
    browser.click(".row.head input");
    browser.click("[data-verb=pause]");
    browser.awaitText("dialog", "2 timers of bulk, that are unfinished, of the queue mails.");
    browser.press("2", Keys.ENTER);
    browser.awaitText("#toasts", "2 timers paused");
    assertThat(List.of(state("bulk", "mail-a"), state("bulk", "mail-b"))).containsOnly("paused");
    assertThat(List.of(state("bulk", "a"), state("bulk", "b"))).containsOnly("scheduled");
  }

  @Test
  void showsAttemptsQueueAndErrorInColumnsOfTheirOwn() {
    site.timers
        .put("columns", "broken", failed("HTTP 502 Bad Gateway"))
        .putObject("retry")
        .put("maxAttempts", 5);
    show("#/timers?ns=columns");
    awaitRows("broken");
    assertThat(browser.text(".rows .cell-attempts")).isEqualTo("1 of 5");
    assertThat(browser.text(".rows .cell-target")).isEqualTo("orders");
    assertThat(browser.text(".rows .cell-error")).isEqualTo("HTTP 502 Bad Gateway");
  }

  @Test
  void sortsByAColumn() {
    site.timers.put("sort", "a", LATER).put("dueAt", "2099-01-03T00:00:00Z").put("attempt", 1);
    site.timers.put("sort", "b", LATER).put("dueAt", "2099-01-01T00:00:00Z").put("attempt", 3);
    site.timers.put("sort", "c", LATER).put("dueAt", "2099-01-02T00:00:00Z").put("attempt", 2);
    show("#/timers?ns=sort");
    browser.click("[data-column=due]");
    awaitRows("b", "c", "a");
    assertThat(browser.all(".cell-due[aria-sort=ascending]")).hasSize(1);
    browser.click("[data-column=due]");
    awaitRows("a", "c", "b");
    assertThat(browser.address()).contains("sort=due").contains("order=desc");
    show(browser.address().substring(site.address().length() + 1));
    awaitRows("a", "c", "b");
    browser.click("[data-column=attempts]");
    awaitRows("b", "c", "a");
    browser.click("[data-column=id]");
    awaitRows("a", "b", "c");
  }

  @Test
  void changesOnlyTheSelectedTimers() {
    for (String id : List.of("a", "b", "c")) {
      site.timers.put("some", id, LATER);
    }
    show("#/timers?ns=some&sort=id");
    awaitRows("a", "b", "c");
    assertThat(browser.all(".bulk[hidden]")).hasSize(1);
    browser.click("[aria-label='Select a']");
    browser.click("[aria-label='Select c']");
    browser.awaitText(".bulk", "2 selected");
    assertThat(barriers()).isEmpty();
    browser.click("[data-verb=pause]");
    browser.awaitText("dialog", "Pause 2 timers?");
    browser.click("dialog button[type=submit]");
    browser.awaitText("#toasts", "2 timers paused");
    assertThat(List.of(state("some", "a"), state("some", "b"), state("some", "c")))
        .containsExactly("paused", "scheduled", "paused");
    browser.await("no selection", () -> !browser.all(".bulk[hidden]").isEmpty());
  }

  @Test
  void offersTheRightVerbFirst() {
    record First(String state, String onItsPage, String forSeveral) {}

    List<First> verbs =
        List.of(
            new First("scheduled", "Run timer now", "Pause timer"),
            new First("ready", "Pause timer", "Pause timer"),
            new First("failed", "Retry timer", "Retry timer"),
            new First("retrying", "Run timer now", "Pause timer"),
            new First("paused", "Resume timer", "Resume timer"),
            new First("running", "Edit timer", "Cancel timer"),
            new First("blocked", "Retry timer", "Retry timer"));
    verbs.forEach(each -> site.timers.put("verbs", each.state, LATER).put("state", each.state));
    show("#/timers?ns=verbs&state=all");
    verbs.forEach(
        each -> {
          browser.click("[aria-label='Select " + each.state + "']");
          browser.awaitText(".bulk-verbs button:first-child", each.forSeveral);
          browser.click("[aria-label='Select " + each.state + "']");
          browser.await("no selection", () -> !browser.all(".bulk[hidden]").isEmpty());
        });
    verbs.forEach(
        each -> {
          follow("#/timer/verbs/" + each.state);
          browser.awaitText("h1", each.state);
          browser.awaitText(".actions button:first-child", each.onItsPage);
        });
  }

  @Test
  void filtersInTheZoneOfTheRows() {
    browser.zone("America/New_York");
    site.timers.put("zone", "a", LATER);
    show("#/timers?ns=zone&from=2099-06-01T09:00:00Z");
    awaitRows("a");
    assertThat(from()).isEqualTo("2099-06-01T05:00:00");
    assertThat(browser.text(".rows .cell-due")).contains("05:30:00");
    browser.press("u");
    browser.awaitText(".filters", "(UTC)");
    awaitRows("a");
    assertThat(from()).isEqualTo("2099-06-01T09:00:00");
    assertThat(browser.text(".rows .cell-due")).contains("09:30:00");
    browser.evaluate(
        "const field = document.querySelector('.span input'); field.value = '2099-06-01T09:31:00';"
            + " field.dispatchEvent(new Event('change'));");
    browser.awaitText("main", "No timer matches");
    assertThat(browser.address()).contains("from=2099-06-01T09%3A31%3A00.000Z");
  }

  private Object from() {
    return browser.evaluate(
        "const { value } = document.querySelector('.span input');"
            + "return value.length === 16 ? value + ':00' : value;");
  }

  @Test
  void readsACalmListAgainAndAsksWhenRowsAreSelected() {
    site.timers.put("calm", "a", LATER).put("createdAt", "2026-01-01T00:00:00Z");
    show("#/timers?ns=calm");
    awaitRows("a");
    site.tell(site.timers.put("calm", "b", LATER), "created");
    awaitRows("b", "a");
    assertThat(browser.all(".news[hidden]")).hasSize(1);
    browser.click("[aria-label='Select a']");
    site.tell(site.timers.put("calm", "c", LATER), "created");
    site.tell(site.timers.put("calm", "c", LATER), "replaced");
    browser.awaitText(".news", "Show 1 changed timer");
    assertThat(rows()).containsExactly("b", "a");
    browser.click(".news");
    awaitRows("c", "b", "a");
  }

  @Test
  void aListThatLoadsLongerThanTheIntervalIsNotRequestedAgain() {
    site.timers.put("calm", "a", LATER).put("createdAt", "2026-01-01T00:00:00Z");
    show("#/timers?ns=calm");
    awaitRows("a");
    site.answersOfLists = new CountDownLatch(1);
    int before = site.lists.get();
    site.tell(site.timers.put("calm", "b", LATER), "created");
    browser.await("a request of the list", () -> site.lists.get() > before);
    int begun = site.seconds.get();
    site.tell(site.timers.put("calm", "c", LATER), "created");
    browser.await("more than an interval", () -> site.seconds.get() > begun + 6);
    assertThat(site.lists).hasValue(before + 1);
    site.answersOfLists.countDown();
    awaitRows("c", "b", "a");
  }

  @Test
  void requestsSomeNamespacesAtOnce() {
    for (int i = 0; i < 6; i++) {
      site.timers.put("ns-" + i, "t-" + i, LATER).put("createdAt", "2026-01-01T00:00:00Z");
    }
    site.answersOfLists = new CountDownLatch(1);
    show("#/timers?sort=id");
    browser.await("four requests", () -> site.lists.get() == 4);
    site.answersOfLists.countDown();
    awaitRows("t-0", "t-1", "t-2", "t-3", "t-4", "t-5");
  }

  @Test
  void holdsElementsOnlyForVisibleRowsOfTheFirst100_000Timers() {
    putMany(100_001);
    show("#/timers?ns=many&prefix=t-");
    browser.awaitText(".count", "The first 100,000 by ID: narrow the filter");
    browser.await("the first row", () -> rows().contains("t-000000"));
    assertThat(rows()).hasSizeLessThan(60);
    browser.await("the oldest, which is the last", () -> scrolledTo("t-050000"));
    assertThat(rows()).hasSizeLessThan(60);
  }

  @Test
  void holdsExactly100_000Timers() {
    putMany(100_000);
    show("#/timers?ns=many");
    browser.awaitText(".count", "100,000 timers");
    assertThat(rows()).hasSizeLessThan(60);
  }

  private void putMany(int count) {
    for (int i = 0; i < count; i++) {
      site.timers
          .put("many", "t-%06d".formatted(i), LATER)
          .put("createdAt", "2026-01-01T00:00:00Z");
    }
    site.timers.get("many", "t-050000").put("createdAt", "2025-01-01T00:00:00Z");
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
    type("ID", "order-7");
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
  void keepsFieldsThatItDoesNotShowWhenItSaves() {
    site.timers.put(
        "made",
        "kept",
        """
        {"at":"2099-06-01T09:30:00.123Z","target":{"queue":"orders"},
         "headers":{"a":"b"},"grace":"PT7M","payload":[1234567890123456789]}
        """);
    show("#/edit/made/kept");
    browser.awaitText("main", "Mon, 1 Jun 2099"); // before it, the button may still move
    type("Queue", "others");
    browser.click("button[type=submit]");
    browser.awaitText("main", "into the queue others");
    assertThat(site.timers.get("made", "kept").toString())
        .contains("2099-06-01T09:30:00.123Z", "{\"a\":\"b\"}", "PT7M", "others")
        .contains("[1234567890123456789]");
  }

  @Test
  void showsTheNextFiveRunsOfTheScheduleThatIsTyped() {
    expectComplaints("422");
    show("#/new?ns=made");
    browser.click(".segments label:nth-child(4)");
    type("Cron", "0 9 * * *");
    browser.awaitText(".said", "Fires every day at 09:00");
    browser.await("five runs", () -> browser.all(".preview li").size() == 5);
    assertThat(browser.text(".preview")).contains("Mon, 1 Jun 2099").contains("Fri, 5 Jun 2099");
    type("Cron", "bad");
    browser.awaitText(".preview", "cron: bad is no minute");
    assertThat(browser.all(".preview li")).isEmpty();
  }

  @Test
  void editsHeadersTimeoutAndGrace() {
    site.timers.put(
        "made",
        "hook",
        """
        {"every":"PT1H","grace":"PT5M","headers":{"team":"billing"},
         "target":{"url":"https://shop.example/a","timeout":"PT10S","secret":"shop",
          "headers":{"Authorization":{"secret":"token"},"Accept":"text/plain"}}}
        """);
    show("#/edit/made/hook");
    type("Grace", "7m");
    type("Timeout", "20s");
    assertThat(barriers()).isEmpty();
    browser.click("[aria-label='Headers of the request'] > p button");
    List<WebElement> names =
        browser.all("[aria-label='Headers of the request'] [aria-label='Header name']");
    List<WebElement> values =
        browser.all("[aria-label='Headers of the request'] [aria-label='Header value']");
    assertThat(names).hasSize(3);
    names.get(2).sendKeys("X-Shop");
    values.get(2).sendKeys("a b");
    browser.click("[aria-label='Headers of the request'] .header-row:nth-child(2) button");
    browser.click("button[type=submit]");
    browser.awaitText("h1", "hook");
    browser.awaitText("main", "Headers of the request");
    assertThat(site.timers.get("made", "hook").toString())
        .contains("\"Authorization\":{\"secret\":\"token\"}", "\"X-Shop\":\"a b\"")
        .contains("\"timeout\":\"PT20S\"", "\"grace\":\"PT7M\"", "{\"team\":\"billing\"}")
        .contains("\"secret\":\"shop\"")
        .doesNotContain("text/plain");
  }

  @Test
  void showsAndEditsTheJitter() {
    site.timers.put(
        "made",
        "spread",
        """
        {"cron":"0 9 * * *","zone":"UTC","jitter":"PT5M","target":{"queue":"orders"}}
        """);
    show("#/timer/made/spread");
    browser.awaitText(
        ".lead", "Every day at 09:00 (UTC), up to 5 min later, into the queue orders");
    assertThat(browser.text(".facts")).contains("up to 5 min, the same for each run");
    browser.click("[data-verb=edit]");
    browser.awaitText("h1", "Edit spread");
    type("Jitter", "7m");
    browser.await("the preview of this timer", () -> site.previewed().contains("PT7M"));
    assertThat(site.previewed()).contains("\"namespace\":\"made\"", "\"id\":\"spread\"");
    browser.click("button[type=submit]");
    browser.awaitText(".lead", "up to 7 min later");
    assertThat(site.timers.get("made", "spread").toString()).contains("\"jitter\":\"PT7M\"");

    show("#/edit/made/spread");
    browser.click(".segments label:nth-child(2)");
    browser.click("button[type=submit]");
    browser.awaitText(".lead", "Once");
    assertThat(site.timers.get("made", "spread").has("jitter")).isFalse();
  }

  @Test
  void showsAndEditsTheEndOfASchedule() {
    site.timers.put(
        "made",
        "ending",
        """
        {"every":"PT1H","until":"2099-06-01T00:00:00.123Z","times":5,"target":{"queue":"orders"}}
        """);
    show("#/timer/made/ending");
    browser.awaitText(".facts", "5 runs");
    browser.click("[data-verb=edit]");
    browser.awaitText("h1", "Edit ending");
    type("Ends after", "7");
    browser.await("the preview of this end", () -> site.previewed().contains("\"times\":7"));
    browser.click("button[type=submit]");
    browser.awaitText(".facts", "7 runs");
    assertThat(site.timers.get("made", "ending").toString())
        .contains("\"times\":7", "\"until\":\"2099-06-01T00:00:00.123Z\"");

    show("#/edit/made/ending");
    browser.click(".segments label:nth-child(2)");
    browser.click("button[type=submit]");
    browser.awaitText(".lead", "Once");
    assertThat(site.timers.get("made", "ending").has("times")).isFalse();
    assertThat(site.timers.get("made", "ending").has("until")).isFalse();
  }

  @Test
  void showsTheHistoryAndTheNextRuns() {
    ObjectNode timer = site.timers.put("told", "a", failed("no paper")).put("state", "running");
    timer.put(
        "lastTrace", "java.io.IOException: no paper\n\tat com.acme.Printer.print(Printer.java:7)");
    show("#/timer/told/a");
    browser.awaitText(".heading .badge", "Running");
    site.become(timer, "failed");
    browser.awaitText(".heading .badge", "Failed"); // only by the event
    assertThat(browser.text(".timeline"))
        .contains("Attempt 1: failed")
        .contains("no paper")
        .contains("took 3 s");
    assertThat(browser.text("[aria-label='Stack trace of the last failure']"))
        .contains("at com.acme.Printer.print(Printer.java:7)");
    browser.click("[data-verb=retry]");
    browser.awaitText(".heading .badge", "Ready");
  }

  @Test
  void reportsAnAbsentTimer() {
    expectComplaints("404");
    show("#/timer/shop/none");
    browser.awaitText("main", "There is no such timer");
  }

  @Test
  void showsTheLatestAttemptsAndTheOthersOnRequest() {
    ObjectNode timer = site.timers.put("shop", "often", failed("HTTP 502"));
    for (int attempt = 2; attempt <= 8; attempt++) {
      ObjectNode next = (ObjectNode) timer.withArray("attempts").get(0).deepCopy();
      timer.withArray("attempts").add(next.put("attempt", attempt));
    }
    show("#/timer/shop/often");
    browser.awaitText(".timeline", "Attempt 8: failed");
    assertThat(browser.text(".timeline")).contains("Attempt 4:").doesNotContain("Attempt 3:");
    browser.click(".timeline summary");
    browser.awaitText(".timeline", "Attempt 1: failed");
    assertThat(barriers()).isEmpty();
  }

  @Test
  void leavesThePresentRunOutOfTheNextRuns() {
    site.timers.put(
        "shop",
        "stock",
        """
        {"every":"PT5M","target":{"queue":"orders"},"state":"retrying","dueAt":"2026-01-01T00:00:00Z",
         "next":["2026-01-01T00:00:00Z","2099-01-01T00:05:00Z"]}
        """);
    show("#/timer/shop/stock");
    browser.awaitText(".runs", "1 Jan 2099");
    assertThat(browser.all(".runs li")).hasSize(1);
  }

  @Test
  void describesClockChanges() {
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
            "The clocks skip this local time. The timer fires at the end of the gap.",
            "Mon, 30 Mar 2099, 02:30 UTC+02:00");
  }
}
