// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.api.ApiJson;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Function;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.MaxValuesExceededException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** The command {@code timewheel}. */
@Command(
    name = "timewheel",
    mixinStandardHelpOptions = true,
    scope = CommandLine.ScopeType.INHERIT,
    versionProvider = Timewheel.Version.class,
    description = "Run a server of durable timers, or call one.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      TimersCommand.class,
      QueuesCommand.class,
      NamespacesCommand.class,
      StatsCommand.class,
      WatchCommand.class,
      BenchCommand.class,
      StoreCommand.class,
      TokensCommand.class,
      GenerateCompletion.class
    },
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:failed",
      "2:wrong usage",
      "3:not found",
      "4:conflict: it exists, or has another version, state or count",
      "5:server unreachable"
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel serve",
      "  timewheel timers create shop order-42 --after 10s --queue unpaid",
      "  timewheel queues claim shop unpaid --wait 20s",
      "  timewheel watch",
      "  source <(timewheel generate-completion)      # completion, for bash and zsh"
    })
public final class Timewheel {
  @Mixin final Globals globals = new Globals();

  /** Creates the root command. Only the command line calls this. */
  public Timewheel() {}

  /**
   * Creates the command line. An error is one line. Only an error of usage is followed by a pointer
   * to the help.
   *
   * @param more commands that are not clients, in the order of the help
   */
  public static CommandLine commandLine(Object... more) {
    CommandLine line = new CommandLine(new Timewheel());
    for (Object command : more) {
      line.addSubcommand(command);
    }
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.registerConverter(Duration.class, text -> parsed(text, Durations::parse, "15m, or PT15M"));
    line.registerConverter(
        Instant.class, text -> parsed(text, ApiJson::parseInstant, "2026-12-01T09:00:00Z"));
    line.setExpandAtFiles(false); // an ID or a payload may begin with @
    line.setExecutionExceptionHandler(
        (error, command, parsed) -> {
          PrintWriter err = command.getErr();
          if (error instanceof CommandException refusal) {
            err.println("timewheel: " + Printer.clean(String.valueOf(refusal.getMessage())));
            return refusal.exitCode();
          }
          err.println("timewheel: " + Printer.clean(CommandException.reason(error)));
          return ExitCode.FAILED;
        });
    line.setParameterExceptionHandler(
        (error, arguments) -> {
          CommandLine command = error.getCommandLine();
          command.getErr().println("timewheel: " + Printer.clean(wrongUsage(error, arguments)));
          command.getErr().println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
          return ExitCode.USAGE;
        });
    return line;
  }

  /**
   * Returns the error of an option that is given twice. Picocli would list the options of its group
   * instead.
   */
  private static String wrongUsage(ParameterException error, String[] arguments) {
    if (error instanceof MaxValuesExceededException) {
      Set<String> given = new HashSet<>();
      for (String argument : arguments) {
        String name = argument.replaceFirst("=.*", "");
        OptionSpec option = error.getCommandLine().getCommandSpec().findOption(name);
        if (option != null && !option.isMultiValue() && !given.add(name)) {
          return name + ": is given twice (expected: once)";
        }
      }
    }
    return String.valueOf(error.getMessage());
  }

  private static <T> T parsed(String text, Function<String, T> parser, String example) {
    try {
      return parser.apply(text);
    } catch (DateTimeParseException e) {
      throw new TypeConversionException(text + " (expected: such as " + example + ")");
    }
  }

  /** Prints the version of the jar, of Java and of the operating system. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Timewheel.class.getPackage().getImplementationVersion();
      return new String[] {
        "timewheel " + (version == null ? "(not from a jar)" : version), "Java " + Runtime.version()
      };
    }
  }
}
