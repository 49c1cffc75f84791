// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.WebElement;

/** The console in a browser, as users see it, with a stand-in for the server. */
@ExtendWith(InBrowser.class)
abstract class ConsoleTest {
  static final String QUEUE = "\"target\":{\"queue\":\"orders\"}";
  static final String LATER = "{\"at\":\"2099-06-01T09:30:00Z\"," + QUEUE + "}";

  private static final String AXE = axe();
  private static final String ROWS =
      "[...document.querySelectorAll('.rows .row')]"
          + ".sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)"
          + ".map(row => row.querySelector('bdi').textContent)";

  Browser browser;
  StandIn site;
  private String expectedComplaint = "";

  private static String axe() {
    try (InputStream axe = requireNonNull(ConsoleTest.class.getResourceAsStream("/axe.min.js"))) {
      return new String(axe.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @BeforeEach
  void begin(Browser shared) throws IOException {
    browser = shared;
    browser.complaints(); // remaining entries of a previous test that failed
    browser.size(1280, 900);
    browser.colours("light");
    browser.zone("");
    site = new StandIn();
  }

  @AfterEach
  void reportsNoError() {
    List<String> complaints =
        browser.complaints().stream()
            .filter(each -> expectedComplaint.isEmpty() || !each.contains(expectedComplaint))
            .toList();
    browser.go("about:blank");
    site.close();
    assertThat(complaints).as("complaints of the browser").isEmpty();
  }

  /** Expects messages that the browser logs for error answers, although the page handles them. */
  void expectComplaints(String part) {
    expectedComplaint = part;
  }

  void show(String page) {
    browser.go(site.address() + "/" + page);
    browser.awaitTrue("a heading", "document.querySelector('h1')?.innerText");
    browser.awaitText(".live", "Live");
  }

  /** Opens another page, like a link. */
  void follow(String hash) {
    browser.evaluate(
        """
        if (location.hash !== arguments[0]) {
          const shown = new Promise(resolve => addEventListener('hashchange', resolve, { once: true }));
          location.hash = arguments[0];
          await shown;
        }
        """,
        hash);
  }

  /** Returns the JSON of a failed timer. */
  static String failed(String error) {
    return """
    {"at":"2026-01-01T00:00:00Z","state":"failed","attempt":1,"target":{"queue":"orders"},"lastError":%1$s,
     "attempts":[{"attempt":1,"scheduledAt":"2026-01-01T00:00:00Z","beganAt":"2026-01-01T00:00:00.002Z",
     "endedAt":"2026-01-01T00:00:03Z","end":"failed","error":%1$s}]}
    """
        .formatted(quoted(error));
  }

  static String quoted(String text) {
    return LaidTimers.JSON.writeValueAsString(text);
  }

  String state(String namespace, String id) {
    return site.timers.get(namespace, id).path("state").asString();
  }

  /** Waits until the list shows these IDs, in this order. */
  void awaitRows(String... ids) {
    browser.awaitTrue(
        "the rows " + List.of(ids),
        "JSON.stringify(" + ROWS + ") === JSON.stringify(arguments[0])",
        List.of(ids));
  }

  List<String> rows() {
    return ((List<?>) browser.evaluate("return " + ROWS)).stream().map(String::valueOf).toList();
  }

  void type(String label, String text) {
    String script =
        "const label = [...document.querySelectorAll('label')]"
            + ".find(each => each.innerText === arguments[0]);"
            + "return document.getElementById(label.htmlFor);";
    WebElement control = (WebElement) browser.evaluate(script, label);
    control.clear();
    control.sendKeys(text);
  }

  /** Returns the number of pixels of the page beyond its right edge. */
  long scrollsSideways() {
    return (long)
        browser.evaluate(
            "const { scrollWidth, clientWidth } = document.documentElement;"
                + "return scrollWidth - clientWidth;");
  }

  /** {@return the serious and critical violations that axe-core finds} */
  List<String> barriers() {
    if (!browser.holds("window.axe")) {
      // As the body of a function, because the policy of the page blocks script elements.
      browser.execute(AXE);
    }
    Object found =
        browser.evaluate(
            "const found = await axe.run(document, { resultTypes: ['violations'] });"
                + "return found.violations"
                + ".filter(each => ['serious', 'critical'].includes(each.impact))"
                + ".map(each => each.id + ': '"
                + " + each.nodes.map(n => n.html + ' ' + n.failureSummary).join('; '));");
    return ((List<?>) found).stream().map(String::valueOf).toList();
  }
}
