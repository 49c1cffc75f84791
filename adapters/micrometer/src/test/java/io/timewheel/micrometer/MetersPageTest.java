// SPDX-License-Identifier: Apache-2.0
package io.timewheel.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.jdbc.JdbcFigures;
import io.timewheel.durable.jdbc.JdbcFigures.Sweeps;
import io.timewheel.testkit.ManualTimer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the tables of meters in docs/operate/metrics.md, which {@code .ci/pages} generates, with
 * the code.
 */
class MetersPageTest {
  private static final Path PAGE = Path.of("../../docs/operate/metrics.md");
  private static final String BEGIN = "<!-- %s: begin, written by .ci/pages -->\n";
  private static final String END = "<!-- %s: end -->";
  private static final String NAME = "shop";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @Test
  void theTableOfTimersInMemoryIsCurrent() throws IOException {
    ManualTimer timer = ManualTimer.create();
    new TimerMetrics(timer, NAME).bindTo(registry);
    assertThat(new LagMetrics(registry, NAME)).isNotNull();
    check("meters of timers in memory");
  }

  @Test
  void theTableOfDurableTimersIsCurrent() throws IOException {
    try (DurableTimer scheduler = DurableTimer.builder(InMemoryTimerStore.create()).start()) {
      new DurableTimerMetrics(scheduler, NAME).bindTo(registry);
      check("meters of durable timers");
    }
  }

  @Test
  void theTableOfSharedDatabasesIsCurrent() throws IOException {
    Sweeps none = new Sweeps(0, 0, 0);
    JdbcFigures figures = new JdbcFigures(0, 0, 0, 0, 0, none, none, 0, 0, 0, 0, 0, 0, 0);
    new JdbcStoreMetrics.Binding<>(registry, NAME, figures, read -> read).bind();
    check("meters of shared databases");
  }

  private void check(String section) throws IOException {
    String page = Files.readString(PAGE);
    String begin = BEGIN.formatted(section);
    int from = page.indexOf(begin) + begin.length();
    int to = page.indexOf(END.formatted(section));
    assertThat(from).as(begin).isGreaterThan(begin.length());
    assertThat(to).as(END.formatted(section)).isGreaterThanOrEqualTo(from);
    if (Boolean.getBoolean("timewheel.pages.write")) {
      Files.writeString(PAGE, page.substring(0, from) + table() + page.substring(to));
    } else {
      assertThat(page.substring(from, to)).as("to write it: .ci/pages").isEqualTo(table());
    }
  }

  private String table() {
    StringBuilder table =
        new StringBuilder(
            "\n| Prometheus | Micrometer | Kind | Tags | Meaning |\n|---|---|---|---|---|\n");
    Map<String, List<Meter>> families = new TreeMap<>();
    for (Meter meter : registry.getMeters()) {
      families.merge(
          meter.getId().getName(),
          List.of(meter),
          (all, more) -> Stream.of(all, more).flatMap(List::stream).toList());
    }
    String scrape = registry.scrape();
    families.forEach((name, meters) -> table.append(row(name, meters, scrape)));
    return table.append('\n').toString();
  }

  private static String row(String name, List<Meter> meters, String scrape) {
    Meter.Id id = meters.get(0).getId();
    String sample =
        scrape
            .lines()
            .filter(line -> line.startsWith("# TYPE "))
            .map(line -> line.substring("# TYPE ".length()))
            .filter(line -> isOf(line, id))
            .findFirst()
            .orElseThrow(() -> new AssertionError(name + " is not in " + scrape));
    return "| `%s` | `%s` | %s | %s | %s |\n"
        .formatted(
            sample.substring(0, sample.indexOf(' ')),
            name,
            kind(id),
            tags(meters),
            id.getDescription());
  }

  /** The base unit of a meter is appended to its name, and {@code _total} to that of a counter. */
  private static boolean isOf(String type, Meter.Id id) {
    String unit = id.getBaseUnit() == null ? "" : "_" + id.getBaseUnit();
    return type.substring(0, type.indexOf(' '))
        .matches(id.getName().replace('.', '_') + "(" + unit + ")?(_total)?");
  }

  private static String kind(Meter.Id id) {
    return id.getType().name().toLowerCase(Locale.ROOT);
  }

  private static String tags(List<Meter> meters) {
    TreeSet<String> tags = new TreeSet<>();
    for (Meter meter : meters) {
      meter.getId().getTags().stream().map(Tag::getKey).forEach(tags::add);
    }
    tags.remove(TimerMetrics.TAG);
    return tags.isEmpty() ? "" : "`" + String.join("`, `", tags) + "`";
  }
}
