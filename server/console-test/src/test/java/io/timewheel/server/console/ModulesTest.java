// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the functions of the console's modules in a browser, one by one, without a page or a
 * server. Only this class calls these functions directly.
 */
@ExtendWith(InBrowser.class)
class ModulesTest {
  private static StandIn files;
  private static Browser browser;

  @BeforeAll
  static void open(Browser shared) throws IOException {
    browser = shared;
    files = new StandIn();
    browser.go(files.address() + "/console/none"); // a document of this origin without modules
  }

  @AfterAll
  static void close() {
    files.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 9 * * MON-FRI           | at 09:00, Monday to Friday",
        "@daily                    | every day at 00:00",
        "@hourly                   | every hour, on the hour",
        "@yearly                   | at 00:00, on the 1st of the month, in January",
        "* * * * *                 | every minute",
        "* * * * * *               | every second",
        "*/5 * * * *               | every 5 minutes",
        "*/10 * * * * *            | every 10 seconds",
        "*/15 8-17 * * *           | every 15 minutes, from 08:00 to 17:45",
        "*/15 22-2 * * *           | every 15 minutes, from 22:00 to 02:45",
        "* 9 * * *                 | every minute, from 09:00 to 09:59",
        "15,45 * * * *             | 15 and 45 minutes past every hour",
        "1 * * * *                 | 1 minute past every hour",
        "*/45 * * * *              | 0 and 45 minutes past every hour",
        "5/20 * * * *              | 5, 25 and 45 minutes past every hour",
        "30 */6 * * *              | every 6 hours, at 30 past",
        "0 8-18/5 * * *            | every day at 08:00, 13:00 and 18:00",
        "15 30 9 * * ?             | every day at 09:30:15",
        "0 0 * * 0                 | at 00:00, on Sunday",
        "0 0 * * 7                 | at 00:00, on Sunday",
        "0 0 * * 5-7               | at 00:00, Friday to Sunday",
        "0 0 * * FRI-MON           | at 00:00, Friday to Monday",
        "0 0 * * SUN-TUE           | at 00:00, Sunday to Tuesday",
        "0 0 * * SAT,SUN           | at 00:00, on Saturday and Sunday",
        "0 0 13 * FRI              | at 00:00, on the 13th of the month, or on Friday",
        "0 0 */2 * MON             | at 00:00, on every 2nd day from the 1st where that is also"
            + " Monday",
        "0 0 L * *                 | at 00:00, on the last day of the month",
        "0 0 15W * *               | at 00:00, on the weekday nearest to the 15th",
        "0 0 LW 3,6 *              | at 00:00, on the last weekday of the month, in March and June",
        "0 0 * * FRIL              | at 00:00, on the last Friday of the month",
        "0 0 * * MON#2             | at 00:00, on the 2nd Monday of the month",
        "0 0 1-7,15 NOV-FEB *      | at 00:00, on the 1st to 7th and 15th of the month, in November"
            + " to February",
      })
  void describesCronInWords(String cron, String words) {
    assertThat(browser.call("cron.js", "words", cron)).isEqualTo(words);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "0 0 * *",
        "60 * * * *",
        "0 0 0 * *",
        "0 24 * * *",
        "*/90 * * * *",
        "0 0 * * FOO",
        "<b>"
      })
  void leavesCronAloneThatItDoesNotUnderstand(String cron) {
    assertThat(browser.call("cron.js", "words", cron)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "2026-03-29T01:00:00Z, Europe/Berlin, gap",
    "2026-03-29T00:59:59Z, Europe/Berlin,",
    "2026-10-25T00:30:00Z, Europe/Berlin, overlap",
    "2026-10-25T01:30:00Z, Europe/Berlin,",
    "2026-10-24T23:30:00Z, Europe/Berlin,",
    "2026-04-04T14:45:00Z, Australia/Lord_Howe, overlap",
    "2026-04-04T14:15:00Z, Australia/Lord_Howe,",
    "2026-06-01T00:00:00Z, UTC,",
  })
  void detectsClockChangesAroundARun(String at, String zone, String oddity) {
    assertThat(browser.call("zone.js", "oddity", millis(at), zone)).isEqualTo(oddity);
  }

  @Test
  void showsBetweenWhichRunsTheClocksShift() {
    List<Long> runs =
        List.of(
            millis("2026-10-24T07:00:00Z"),
            millis("2026-10-25T08:00:00Z"),
            millis("2026-10-26T08:00:00Z"));
    String script =
        "return (await import('/console/zone.js')).runs(arguments[0], 'Europe/Berlin',"
            + " arguments[1]).map(run => [run.text, run.offset, run.shift?.at ?? 0, run.shift?.by"
            + " ?? 0]);";
    assertThat(browser.evaluate(script, runs, millis("2026-10-24T00:00:00Z")))
        .isEqualTo(
            List.of(
                List.of("Sat, 24 Oct 2026, 09:00", "UTC+02:00", 0L, 0L),
                List.of(
                    "Sun, 25 Oct 2026, 09:00",
                    "UTC+01:00",
                    millis("2026-10-25T01:00:00Z"),
                    -3_600_000L),
                List.of("Mon, 26 Oct 2026, 09:00", "UTC+01:00", 0L, 0L)));
    assertThat(browser.call("zone.js", "shiftText", -3_600_000)).isEqualTo("go back 1 h");
    assertThat(browser.call("zone.js", "shiftText", 1_800_000)).isEqualTo("go forward 30 min");
  }

  @ParameterizedTest
  @CsvSource({
    "PT0.002S, 2",
    "PT1H, 3600000",
    "P1DT2H, 93600000",
    "P2W, 1209600000",
    "-PT5S, -5000",
    "PT1M30.5S, 90500",
  })
  void readsDurations(String iso, long millis) {
    assertThat(browser.call("format.js", "durationMillis", iso)).isEqualTo(millis);
  }

  @ParameterizedTest
  @CsvSource({
    "2, 2 ms",
    "1200, 1.2 s",
    "59999, 59 s",
    "723000, 12 min 3 s",
    "7200000, 2 h",
    "187200000, 2 d 4 h",
    "-5000, -5 s",
  })
  void writesDurations(long millis, String words) {
    assertThat(browser.call("format.js", "duration", millis)).isEqualTo(words);
  }

  @ParameterizedTest
  @CsvSource({
    "30m, PT30M",
    "1h 30m, PT1H30M",
    "90, PT90S",
    "pt5s, PT5S",
    "1.5h, PT1H30M",
    "2d, PT48H",
    "100ms, PT0.1S",
    "soon,",
    "5 bananas,",
    "-5s,",
    "1h x,",
  })
  void acceptsDurationsAsPeopleWriteThem(String typed, String iso) {
    assertThat(browser.call("words.js", "isoOf", typed)).isEqualTo(iso);
  }

  @Test
  void putsEachTimerIntoOneSlot() {
    // One timer in each slot of each level, in the counts of the server: every level begins now, so
    // they overlap.
    String script =
        "const { fill, sum, RINGS } = await import('/console/wheel-model.js');"
            + "const now = Date.parse('2026-11-22T14:32:10.500Z');"
            + "const level = (ring, count) => ({"
            + "  from: new Date(Math.floor(now / ring.millis) * ring.millis).toISOString(),"
            + "  counts: Array.from({ length: ring.slots }, () => count) });"
            + "return fill(RINGS.map(ring => level(ring, ring.millis / 1000)), now).map(sum);";
    // The seconds left of the minute, then of the hour, then of the day, and 366 days after today.
    assertThat((List<?>) browser.evaluate(script))
        .isEqualTo(List.of(50L, 27L * 60, 9L * 3600, 365L * 86400));
  }

  @Test
  void leavesNothingBehindTheHand() {
    String script =
        "const { fill, place, RINGS } = await import('/console/wheel-model.js');const now ="
            + " Date.parse('2026-11-22T14:32:10.500Z');const levels = RINGS.map(ring => ({ from:"
            + " new Date(Math.floor(now / ring.millis) * ring.millis).toISOString(),  counts:"
            + " Array.from({ length: ring.slots }, () => 1) }));return fill(levels, now).slice(0,"
            + " 3).map((slots, i) => [place(RINGS[i], now), slots.findIndex(s => s.count > 0)]);";
    assertThat((List<?>) browser.evaluate(script))
        .isEqualTo(List.of(List.of(10L, 10L), List.of(32L, 33L), List.of(14L, 15L)));
  }

  @Test
  void findsTheSlotThatIsUnderThePointer() {
    String script =
        "const { RINGS, point, slotAt } = await import('/console/wheel-model.js');const wrong ="
            + " [];RINGS.forEach((ring, i) => { for (let at = 0; at < ring.slots; at++) {  const"
            + " found = slotAt(...point((ring.inner + ring.outer) / 2, (at + 0.5) / ring.slots)); "
            + " if (found.ring !== i || found.at !== at) wrong.push([i, at, found]); } });return"
            + " [wrong, slotAt(0, 0), slotAt(368, 368)];";
    List<Object> nothing = new ArrayList<>(List.of(List.of()));
    Collections.addAll(nothing, null, null);
    assertThat(browser.evaluate(script)).isEqualTo(nothing);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "9, 1",
    "10, 2",
    "999, 3",
    "1000, 4",
    "99999, 5",
    "100000, 6",
    "50000000, 6"
  })
  void shadesByPowersOfTen(long count, long shade) {
    assertThat(browser.call("wheel-model.js", "shade", count)).isEqualTo(shade);
  }

  @Test
  void numbersTheRingsAsAClockAndNamesTheMonths() {
    String script =
        """
        const { numerals, place, RINGS } = await import('/console/wheel-model.js');
        const now = Date.parse('2026-12-01T09:30:00Z');
        const hours = numerals(RINGS[2], now).map(({ label, minor }) => label + (minor ? '' : '!'));
        const months = numerals(RINGS[3], now);
        const april = months.find(({ label }) => label === 'Apr');
        return [hours.join(' '), numerals(RINGS[0], now).length, months.length,
          Math.floor(april.part * 366) - place(RINGS[3], Date.parse('2027-04-01T00:00:00Z'))];
        """;
    List<?> found = (List<?>) browser.evaluate(script);
    assertThat(found.get(0)).isEqualTo("3 6! 9 12! 15 18! 21");
    assertThat(found.get(1)).isEqualTo(11L);
    assertThat((long) found.get(2)).as("one may be under the name of the ring").isBetween(11L, 12L);
    assertThat(found.get(3)).isEqualTo(0L);
  }

  @Test
  void letsTimersFallWhenASlotOpens() {
    assertThat(falls("2026-11-22T14:32:58Z", "2026-11-22T14:32:59Z")).isEqualTo(List.of());
    assertThat(falls("2026-11-22T14:32:59Z", "2026-11-22T14:33:00Z"))
        .isEqualTo(List.of(Map.of("from", 1L, "at", 33L)));
    assertThat(falls("2026-11-22T14:59:59Z", "2026-11-22T15:00:00Z"))
        .isEqualTo(List.of(Map.of("from", 1L, "at", 0L), Map.of("from", 2L, "at", 15L)));
  }

  private static Object falls(String before, String now) {
    return browser.call("wheel-model.js", "falls", millis(before), millis(now));
  }

  @Test
  void createsElementsOnlyForTheRowsInSight() {
    assertThat(browser.call("virtual-list.js", "rowsInSight", 0, 440, 44, 100_000, 8))
        .isEqualTo(Map.of("first", 0L, "last", 18L));
    assertThat(browser.call("virtual-list.js", "rowsInSight", 440_000, 440, 44, 100_000, 8))
        .isEqualTo(Map.of("first", 9_992L, "last", 10_018L));
    assertThat(browser.call("virtual-list.js", "rowsInSight", 440_000, 440, 44, 5, 8))
        .isEqualTo(Map.of("first", 5L, "last", 5L));
    assertThat(browser.call("virtual-list.js", "scrollTo", 20, 0, 440, 44)).isEqualTo(484L);
    assertThat(browser.call("virtual-list.js", "scrollTo", 3, 0, 440, 44)).isEqualTo(0L);
    assertThat(browser.call("virtual-list.js", "scrollTo", 3, 440, 440, 44)).isEqualTo(132L);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ storeAvailable: false }                            | bad  | The store does not answer",
        "{ overdue: 3 }                                       | bad  | Late",
        "{ paused: ['*'] }                                    | warn | All timers are paused",
        "{ lag: { count: 9, p50: 'PT0.1S', p99: 'PT1.5S' } }  | warn | Late at times",
        "{ lag: { count: 9, p50: 'PT0S', p99: 'PT0.1S' }, states: { failed: 2 } }"
            + " | warn | On time, but 2 timers need you",
        "{ lag: { count: 0 }, states: { blocked: 1 } }        | warn | On time, but 1 timer needs"
            + " you",
        "{ lag: { count: 0 } }                                | idle | Nothing was due",
        "{}                                                   | idle | Nothing was due",
        "{ lag: { count: 9, p50: 'PT0S', p99: 'PT0.1S' } }    | good | On time",
      })
  void judgesWhetherTimeIsKept(String stats, String level, String title) {
    String script = "return (await import('/console/verdict.js')).verdict(" + stats + ");";
    assertThat((Map<?, ?>) browser.evaluate(script))
        .extracting(
            said -> ((Map<?, ?>) said).get("level"), said -> ((Map<?, ?>) said).get("title"))
        .containsExactly(level, title);
  }

  @ParameterizedTest
  @CsvSource({
    "61, false, 'On time, but a queue is behind', 1",
    "59, false, Nothing was due, 0",
    "61, true, Nothing was due, 1",
  })
  void reportsAQueueWithoutConsumers(int seconds, boolean paused, String title, long problems) {
    String script =
        """
        const { verdict, problems } = await import('/console/verdict.js');
        const stats = { now: '2026-12-01T09:00:00Z', states: { ready: 28 }, lag: { count: 0 } };
        const at = new Date(Date.parse(stats.now) - arguments[0] * 1000).toISOString();
        const queues = [{ namespace: 'shop', name: 'orders', ready: 28, oldestReadyAt: at, paused: arguments[1] }];
        return [verdict(stats, queues).title, problems(stats, queues).length];
        """;
    assertThat(browser.evaluate(script, seconds, paused)).isEqualTo(List.of(title, problems));
  }

  @ParameterizedTest
  @CsvSource({"4, 4", "5, 4", "40, 4"})
  void namesTheWorstQueuesAndCountsTheOthers(int queues, int rows) {
    String script =
        """
        const { problems } = await import('/console/verdict.js');
        const queues = Array.from({ length: arguments[0] }, (_, i) =>
          ({ namespace: 'shop', name: 'q' + i, ready: 3, oldestReadyAt: '2026-12-01T08:00:00Z', paused: arguments[1] }));
        return problems({ now: '2026-12-01T09:00:00Z', states: {} }, queues).map(({ title, count }) => title + ' ' + (count ?? ''));
        """;
    for (boolean paused : List.of(false, true)) {
      List<?> titles = (List<?>) browser.evaluate(script, queues, paused);
      assertThat(titles).hasSize(rows);
      String more = (paused ? "More queues paused " : "More queues behind ") + (queues - 3);
      assertThat(titles.contains(more)).isEqualTo(queues > 4);
    }
  }

  @ParameterizedTest
  @CsvSource({"false, orders", "true, mails"})
  void takesTheOldestReadyTimerFromAQueueThatIsNotPaused(boolean paused, String queue) {
    String script =
        """
        const { oldest } = await import('/console/queues.js');
        return oldest([
          { name: 'orders', ready: 4, oldestReadyAt: '2026-12-01T08:00:00Z', paused: arguments[0] },
          { name: 'mails', ready: 1, oldestReadyAt: '2026-12-01T08:30:00Z', paused: false }]).words;
        """;
    assertThat((String) browser.evaluate(script, paused)).startsWith("in " + queue);
  }

  @ParameterizedTest
  @CsvSource({
    "failed, 1, 'All its attempts failed', Open the timer",
    "failed, 2, 'All their attempts failed', Open a timer",
    "blocked, 1, It is due, The timer continues",
    "blocked, 2, They are due, The timers continue",
  })
  void writesProblemsInTheSingularAndInThePlural(
      String state, int count, String meaning, String step) {
    String script =
        """
        const { problems } = await import('/console/verdict.js');
        const [{ meaning, step }] = problems({ now: '2026-12-01T09:00:00Z', states: { [arguments[0]]: arguments[1] } });
        return [meaning, step];
        """;
    List<?> texts = (List<?>) browser.evaluate(script, state, count);
    assertThat((String) texts.get(0)).startsWith(meaning);
    assertThat((String) texts.get(1)).contains(step);
  }

  /** The slots of a level begin at a whole minute, so the first one may be past. */
  @Test
  void findsTheNextPeakAmongSlotsThatAreNotPast() {
    String script =
        """
        const { slotsAhead } = await import('/console/now.js');
        const level = { from: '2026-12-01T09:00:00Z', counts: [900, 800, 5, 70, 0] };
        const found = now => {
          const { bars, peak } = slotsAhead(level, 60_000, Date.parse(now));
          return [bars.length, peak === undefined ? '' : new Date(peak.start).toISOString()];
        };
        return [found('2026-12-01T09:01:59Z'), found('2026-12-01T09:02:00Z'), found('2026-12-01T09:04:00Z')];
        """;
    assertThat(browser.evaluate(script))
        .isEqualTo(
            List.of(
                List.of(4L, "2026-12-01T09:01:00.000Z"),
                List.of(3L, "2026-12-01T09:03:00.000Z"),
                List.of(1L, "")));
  }

  @ParameterizedTest
  @CsvSource({"0, 1000, 0", "1, 1000, 10", "9, 1000, 33", "99, 1000, 67", "1000, 1000, 100"})
  void drawsCountsOnALogarithmicScale(int count, int top, long percent) {
    String script =
        "return Math.round((await import('/console/chart.js')).logHeight(arguments[0],"
            + " arguments[1]) * 100);";
    assertThat(browser.evaluate(script, count, top)).isEqualTo(percent);
  }

  @ParameterizedTest
  @CsvSource({"1, 10", "10, 10", "11, 100", "1000, 1000", "12345, 100000"})
  void endsTheScaleAtAPowerOfTen(int count, long top) {
    assertThat(browser.call("chart.js", "decade", count)).isEqualTo(top);
  }

  @Test
  void leavesAGapInALineWhereNothingWasMeasured() {
    String script =
        "return (await import('/console/chart.js')).linePath(arguments[0].map(([x, y]) =>"
            + " ({ x, y: y ?? undefined })));";
    List<List<Double>> points =
        List.of(List.of(0.0, 0.0), List.of(0.25, 1.0), List.of(0.5), List.of(0.75, 0.5));
    assertThat(browser.evaluate(script, points))
        .isEqualTo("M0.00 100.00h0L25.00 0.00M75.00 50.00h0");
  }

  @Test
  void namesAFirstStepForEveryProblem() {
    String script =
        "const { problems } = await import('/console/verdict.js');const stats = { storeAvailable:"
            + " false, overdue: 1, backlog: 1, paused: ['shop'],  states: { failed: 1, blocked:"
            + " 1, retrying: 1, paused: 1, ready: 1 } };return [problems(stats).map(p => p.key),"
            + " problems(stats).every(p => p.step && p.meaning), problems({}).length];";
    assertThat(browser.evaluate(script))
        .isEqualTo(
            List.of(
                List.of(
                    "store",
                    "overdue",
                    "failed",
                    "blocked",
                    "retrying",
                    "backlog",
                    "paused shop",
                    "paused"),
                true,
                0L));
  }

  @Test
  void readsEventsHoweverTheyAreCut() {
    String script =
        "const { parseEvents } = await import('/console/api.js');const bytes = new"
            + " TextEncoder().encode(  ': ping\\n"
            + "\\n"
            + "id: 7\\n"
            + "event: timer\\n"
            + "data: {\"id\":\"zürich\"}\\n"
            + "\\r"
            + "\\n"
            + "data:a\\r"
            + "\\n"
            + "data: b\\r"
            + "\\n"
            + "\\r"
            + "\\n"
            + "event: none\\n"
            + "\\n"
            + "data: cut');const out = [];for (const size of [1, 2, 3, 1000]) {  const parts = [];"
            + " for (let i = 0; i < bytes.length; i += size) parts.push(bytes.slice(i, i + size)); "
            + " const stream = new ReadableStream({ pull(c) { parts.length ?"
            + " c.enqueue(parts.shift()) : c.close(); } });  const events = []; for await (const e"
            + " of parseEvents(stream)) events.push([e.id, e.type, e.data]);  out.push(events);"
            + " }return out;";
    List<?> expected =
        List.of(List.of("7", "timer", "{\"id\":\"zürich\"}"), List.of("", "message", "a\nb"));
    assertThat(browser.evaluate(script)).isEqualTo(Collections.nCopies(4, expected));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "order-42",
        "a/b?c#d&e=f",
        "50%",
        "%2F",
        "100 %",
        "<img src=x>",
        "zürich 学生",
        "a:b"
      })
  void keepsAnyNameInAnAddress(String name) {
    String script =
        "const { link, parse } = await import('/console/router.js');const { path, query } ="
            + " parse(link(['timer', arguments[0], arguments[0]], { prefix: arguments[0], none: ''"
            + " }));return [...path, query.get('prefix'), query.get('none')];";
    List<Object> expected = new ArrayList<>(List.of("timer", name, name, name));
    expected.add(null);
    assertThat(browser.evaluate(script, name)).isEqualTo(expected);
  }

  @Test
  void sendsHiddenFieldsBack() {
    String script =
        "return (await import('/console/edit.js')).definition({ id: 'a', namespace: 'b', version:"
            + " 1, state: 'scheduled', dueAt: 'x', at: 'x', zone: 'UTC', target: { queue: 'q' },"
            + " grace: 'PT1M', headers: { a: 'b' } });";
    assertThat(browser.evaluate(script))
        .isEqualTo(
            Map.of("target", Map.of("queue", "q"), "grace", "PT1M", "headers", Map.of("a", "b")));
  }

  @Test
  void writesNumbersUnchanged() {
    String json = "[1234567890123456789,1.10,-0.0,1e400,7,\"1e400\"]";
    String script =
        "return JSON.stringify((await import('/console/api.js')).exactJson(arguments[0]));";
    assertThat(browser.evaluate(script, json)).isEqualTo(json);
  }

  private static long millis(String instant) {
    return Instant.parse(instant).toEpochMilli();
  }
}
