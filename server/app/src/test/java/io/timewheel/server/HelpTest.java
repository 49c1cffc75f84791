// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.server.cli.Main;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests {@code --help} of every command. */
class HelpTest {
  private static final int TERMINAL = 80;

  @Test
  void fitsIntoATerminalWithItsExamplesUnbroken() throws IOException {
    helps(Main.commandLine(Map.of()));
  }

  @Test
  void theOptionsOfServeHaveHeadings() throws IOException {
    CommandLine line = Main.commandLine(Map.of());
    assertThat(line.getSubcommands().get("serve").getUsageMessage().lines())
        .containsSubsequence(
            "Network, TLS and tokens:",
            "Store:",
            "Limits and retention:",
            "Webhooks and failed timers:",
            "Backups:",
            "Logs:");
  }

  @Test
  void theCommandsHaveOneOrder() throws IOException {
    assertThat(Main.commandLine(Map.of()).getSubcommands().keySet())
        .endsWith("generate-completion", "serve", "config");
  }

  private static void helps(CommandLine command) {
    String name = command.getCommandSpec().qualifiedName();
    List<String> lines = command.getUsageMessage().lines().toList();
    assertThat(lines)
        .as(name)
        .hasSizeGreaterThan(3)
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(TERMINAL));
    assertThat(lines)
        .as("exit codes of " + name)
        .containsSequence("Exit codes:", "  0   done", "  1   failed", "  2   wrong usage")
        .contains("  3   not found", "  5   server unreachable")
        .anyMatch(line -> line.startsWith("  4   conflict"));
    assertThat(lines)
        .as("headings of " + name)
        .filteredOn("Examples:"::equals)
        .hasSizeLessThanOrEqualTo(1);
    // A wider line would be wrapped, which breaks a command that somebody copies.
    assertThat(command.getCommandSpec().usageMessage().footer())
        .as("examples of " + name)
        .allSatisfy(line -> assertThat(lines).contains(line));
    command.getSubcommands().values().forEach(HelpTest::helps);
  }
}
