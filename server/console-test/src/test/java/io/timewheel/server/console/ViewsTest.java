// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

/** Now, the wheel and the cluster. */
class ViewsTest extends ConsoleTest {
  @Test
  void namesWhatIsWrongWithTheWayToIt() {
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
  void saysWhatIsWrongFirst() {
    site.timers.figures = "{\"storeAvailable\":false,\"overdue\":7,\"paused\":[\"*\"]}";
    show("#/");
    browser.awaitText(".verdict", "The store does not answer");
    assertThat(browser.text(".problems"))
        .containsSubsequence("Look at its disk", "Overdue", "Everything is paused", "Resume it");
    assertThat(barriers()).isEmpty();
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
