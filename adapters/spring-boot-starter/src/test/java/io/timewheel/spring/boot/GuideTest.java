// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.Timeout;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.testkit.ManualTimer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.DefaultApplicationArguments;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;

/** Verifies that the snippets of docs/guides/spring.md compile and work. */
@ExtendWith(OutputCaptureExtension.class)
class GuideTest {
  private static final Pattern SNIPPET =
      Pattern.compile(" *// begin: [^\\n]*\\n(.*?)\\n *// end", Pattern.DOTALL);

  @Test
  void everySnippetIsInTheGuide() throws IOException {
    Path tests = Path.of("src/test/java/io/timewheel/spring/boot");
    String code =
        Files.readString(tests.resolve("Sessions.java"))
            + Files.readString(tests.resolve("ManualTime.java"))
            + Files.readString(tests.resolve("Orders.java"))
            + Files.readString(tests.resolve("Purchases.java"))
            + Files.readString(tests.resolve("Reports.java"))
            + Files.readString(
                Path.of(
                    "../../examples/shop/src/main/java/io/timewheel/examples/shop"
                        + "/ShopApplication.java"));
    String guide = Files.readString(Path.of("../../docs/guides/spring.md"));
    List<String> snippets = new ArrayList<>();
    for (Matcher found = SNIPPET.matcher(code); found.find(); ) {
      snippets.add(found.group(1).stripIndent().strip());
    }

    assertThat(snippets).hasSize(6).allSatisfy(snippet -> assertThat(guide).contains(snippet));
  }

  @Test
  void sessionClosesWhenTheTestAdvancesTime() {
    new ApplicationContextRunner()
        .withUserConfiguration(Application.class, Sessions.class, ManualTime.class)
        .run(
            context -> {
              Session session = new Session();
              Timeout timeout = context.getBean(Sessions.class).closeWhenIdle(session);
              ManualTimer timer = context.getBean(ManualTimer.class);

              timer.advanceBy(Duration.ofMinutes(29));
              assertThat(timeout.isExpired()).isFalse();
              timer.advanceBy(Duration.ofMinutes(1));
              Eventually.zero(session.closed);
            });
  }

  @Test
  void orderIsCancelledUnlessItIsPaid(CapturedOutput output) {
    new ApplicationContextRunner()
        .withUserConfiguration(Application.class, Orders.class)
        .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create)
        .run(
            context -> {
              Orders orders = context.getBean(Orders.class);
              orders.placed(new OrderRef(1));
              orders.placed(new OrderRef(2));
              assertThat(orders.paid(new OrderRef(1))).isTrue();
              assertThat(output).doesNotContain("was not paid");

              context.getBean(DurableTimer.class).timer("shop", "order-2").runNow();
              String line = "OrderRef[number=2] was not paid within 30 minutes; attempt 1";
              Eventually.holds(line, () -> output.getOut().contains(line));
              Eventually.holds("too late to pay", () -> !orders.paid(new OrderRef(2)));
            });
  }

  @Test
  void reportIsScheduledAtEachStart(CapturedOutput output) {
    new ApplicationContextRunner()
        .withUserConfiguration(Application.class, Reports.class)
        .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create)
        .run(
            context -> {
              DurableTimer scheduler = context.getBean(DurableTimer.class);
              context.getBean(ApplicationRunner.class).run(new DefaultApplicationArguments());
              long version = scheduler.timer("shop", "report").get().orElseThrow().version();
              context.getBean(ApplicationRunner.class).run(new DefaultApplicationArguments());
              assertThat(scheduler.timer("shop", "report").get().orElseThrow().version())
                  .isEqualTo(version);

              scheduler.timer("shop", "report").runNow();
              Eventually.holds("report", () -> output.getOut().contains("report, due at "));
            });
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableScheduling
  static class Application {}
}
