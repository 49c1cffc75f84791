// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli.serve;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.json.Json;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.settings.Limits;
import io.timewheel.server.settings.Settings;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Spec;

/** Shows the settings that a command would use, and the source of each. Secrets are masked. */
@Command(
    name = "config",
    description = {
      "Show each setting and its source.",
      "Precedence: command line, environment (TIMEWHEEL_LOG_FORMAT for --log-format),",
      "file of properties that TIMEWHEEL_CONFIG names (log-format=json), default."
    },
    footer = {
      "  timewheel config",
      "  timewheel config --port 8080     # settings of `serve --port 8080`"
    })
public final class ConfigCommand implements Callable<Integer> {
  private static final String MASK = "********";
  private static final String ROW = "%-20s  %-28s  %s";

  @Spec private @Nullable CommandSpec spec;

  @Mixin private ServeOptions options = new ServeOptions();

  private record Row(String setting, String value, String source) {}

  @Override
  public Integer call() {
    options.check();
    CommandSpec command = requireNonNull(spec);
    List<Row> rows = new ArrayList<>();
    for (OptionSpec option : command.options()) {
      if (!option.usageHelp() && !option.versionHelp()) {
        rows.add(row(command, option));
      }
    }
    addLimits(rows);
    for (String secret : List.of(Settings.TOKEN, Settings.STORE_PASSWORD)) {
      String value = System.getenv(secret);
      if (value != null && !value.isBlank()) {
        rows.add(
            new Row(
                secret.substring("TIMEWHEEL_".length()).toLowerCase(Locale.ROOT).replace('_', '-'),
                MASK,
                secret));
      }
    }
    PrintWriter out = command.commandLine().getOut();
    if (isJson(command)) {
      out.println(Json.text(Map.of("settings", rows)));
    } else {
      out.println(ROW.formatted("SETTING", "VALUE", "SOURCE"));
      rows.forEach(row -> out.println(ROW.formatted(row.setting, row.value, row.source)));
    }
    out.flush();
    return 0;
  }

  /** Adds the lines of the file of limits. */
  private void addLimits(List<Row> rows) {
    try {
      for (Limits.Line line : options.limits.ofFile().lines()) {
        rows.add(new Row("limit " + line.name(), line.text(), "--limits"));
      }
    } catch (IOException e) {
      throw new CommandException(ExitCode.FAILED, CommandException.reason(e));
    }
  }

  /** {@return whether a command prints JSON} */
  public static boolean isJson(CommandSpec command) {
    return String.valueOf(command.findOption("--output").<Object>getValue()).equals("json");
  }

  private Row row(CommandSpec command, OptionSpec option) {
    String name = Settings.nameOf(option);
    Settings.Found found = ((Settings) command.defaultValueProvider()).find(name);
    boolean argued =
        command.commandLine().getParseResult().hasMatchedOption(option.longestName())
            || command.root().commandLine().getParseResult().hasMatchedOption(option.longestName());
    String source = argued ? option.longestName() : found != null ? found.source() : "default";
    return new Row(name, text(option.getValue()), source);
  }

  private static String text(@Nullable Object value) {
    if (value instanceof Collection<?> several) {
      return several.isEmpty()
          ? "-"
          : String.join(",", several.stream().map(String::valueOf).toList());
    }
    return value == null || value.equals("") ? "-" : value.toString();
  }
}
