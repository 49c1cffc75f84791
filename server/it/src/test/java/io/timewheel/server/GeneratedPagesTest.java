// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.cli.Main;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.webhook.AddressPolicy;
import io.timewheel.testing.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgGroupSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Compares the documents that {@code .ci/pages} generates with the code of the server. */
@Timeout(120)
class GeneratedPagesTest {
  private static final Path DOCS = Path.of("../../docs").toAbsolutePath().normalize();
  private static final Pattern TYPE = Pattern.compile("(?m)^# TYPE (timewheel_\\w+) (\\w+)$");
  private static final String COMMENT = "<!-- Written by .ci/pages. -->\n";

  @TempDir private Path directory;

  @Test
  void theReferenceOfTheCommandLineIsCurrent() throws IOException {
    StringBuilder page =
        new StringBuilder(COMMENT)
            .append(
                """
                # Command line

                Each command of `timewheel` with its help, as `timewheel COMMAND --help` prints it. \
                [Settings](settings.md) lists the environment variables.
                """);
    addHelp(page, commandLine());
    check(DOCS.resolve("reference/cli.md"), page.toString());
  }

  private static CommandLine commandLine() throws IOException {
    return Main.commandLine(Map.of());
  }

  private static void addHelp(StringBuilder page, CommandLine command) {
    String help = command.getUsageMessage(Ansi.OFF).replaceAll("(?m)[ \\t]+$", "").strip();
    page.append("\n## ")
        .append(command.getCommandSpec().qualifiedName())
        .append("\n\n```\n")
        .append(help)
        .append("\n```\n");
    command.getSubcommands().values().stream().distinct().forEach(one -> addHelp(page, one));
  }

  @Test
  void theReferenceOfTheSettingsIsCurrent() throws IOException {
    StringBuilder page =
        new StringBuilder(COMMENT)
            .append(
                """
                # Settings of the server

                Each option of `timewheel serve`, with its environment variable. In the file of \
                properties that `TIMEWHEEL_CONFIG` names, the key is the option without its dashes. \
                Precedence: command line, environment, file, default. `timewheel config` shows each \
                value in use and its source. Durations are ISO 8601, such as PT30M, or short, such as \
                30m. Several values of one key or variable are separated by commas.

                The environment variables `TIMEWHEEL_TOKEN` and `TIMEWHEEL_STORE_PASSWORD` contain the secrets themselves.
                """);
    CommandLine line = commandLine();
    CommandLine serve = line.getSubcommands().get("serve");
    for (ArgGroupSpec group : serve.getCommandSpec().argGroups()) {
      page.append("\n## ").append(group.heading().replace("%n", "").replace(":", "").strip());
      addOptions(page.append("\n\n"), group.allOptionsNested());
    }
    List<OptionSpec> others = new ArrayList<>(line.getCommandSpec().options());
    others.removeIf(option -> option.usageHelp() || option.versionHelp());
    addOptions(page.append("\n## Clients\n\nAll commands take these options.\n\n"), others);
    check(DOCS.resolve("reference/settings.md"), page.toString());
  }

  private static void addOptions(StringBuilder page, List<OptionSpec> options) {
    page.append("| Option | Environment variable | Meaning |\n|---|---|---|\n");
    for (OptionSpec option : options) {
      String name = Settings.nameOf(option);
      String variable = "TIMEWHEEL_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
      page.append("| `--%s` | %s | %s |\n".formatted(name, code(variable), text(option)));
    }
  }

  private static String text(OptionSpec option) {
    return String.join(" ", option.description())
        .replace("${DEFAULT-VALUE}", String.valueOf(option.defaultValue()))
        .replace("|", "\\|");
  }

  private static String code(String text) {
    return "`" + text + "`";
  }

  @Test
  void theTableOfTheMetersOfTheServerIsCurrent() throws Exception {
    try (Running running =
        new Running(Running.secrets(directory, "shop"), AddressPolicy.admitting(List.of()))) {
      running.put(
          "/v1/namespaces/shop/timers/a", "{\"after\":\"PT0S\",\"target\":{\"queue\":\"q\"}}");
      running.put(
          "/v1/namespaces/shop/timers/b",
          "{\"after\":\"PT0S\",\"target\":{\"url\":\"https://127.0.0.1/\",\"secret\":\"shop\"}}");
      Await.until("the attempt", () -> hasBoth(running.get("/metrics").response().body()));
      checkSection("meters of the server", table(running.get("/metrics").response().body()));
    }
  }

  private static boolean hasBoth(String scrape) {
    return scrape.contains("timewheel_webhook_requests") && scrape.contains("queue_ready");
  }

  private static String table(String scrape) {
    Map<String, String> rows = new TreeMap<>();
    for (MatchResult type : TYPE.matcher(scrape).results().toList()) {
      String name = type.group(1);
      if (!name.startsWith("timewheel_durable_") && !name.endsWith("_max")) {
        rows.put(
            name,
            "| `%s` | %s | %s | %s |\n"
                .formatted(name, type.group(2), labels(scrape, name), help(scrape, name)));
      }
    }
    return "\n| Prometheus | Kind | Labels | Meaning |\n|---|---|---|---|\n"
        + String.join("", rows.values())
        + "\n";
  }

  private static String help(String scrape, String name) {
    return found("(?m)^# HELP " + name + " (.*)$", scrape).get(0);
  }

  private static String labels(String scrape, String name) {
    TreeSet<String> labels = new TreeSet<>();
    for (String sample :
        found("(?m)^" + name + "(?:_bucket|_count|_sum)?\\{(.*)} [^}]*$", scrape)) {
      labels.addAll(found("(\\w+)=\"[^\"]*\"", sample));
    }
    labels.remove("le");
    return labels.isEmpty() ? "" : "`" + String.join("`, `", labels) + "`";
  }

  private static List<String> found(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().map(match -> match.group(1)).toList();
  }

  private static void checkSection(String section, String text) throws IOException {
    Path page = DOCS.resolve("operate/metrics.md");
    String before = Files.readString(page);
    String begin = "<!-- %s: begin, written by .ci/pages -->\n".formatted(section);
    int from = before.indexOf(begin) + begin.length();
    int to = before.indexOf("<!-- %s: end -->".formatted(section));
    assertThat(from).as(begin).isGreaterThan(begin.length()).isLessThanOrEqualTo(to);
    check(page, before.substring(0, from) + text + before.substring(to));
  }

  private static void check(Path page, String text) throws IOException {
    if (Boolean.getBoolean("timewheel.pages.write")) {
      Files.writeString(page, text);
    } else {
      assertThat(Files.readString(page)).as("to write it: .ci/pages").isEqualTo(text);
    }
  }
}
