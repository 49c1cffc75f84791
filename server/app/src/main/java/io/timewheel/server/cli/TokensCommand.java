// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.server.cli.serve.ConfigCommand;
import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Tokens;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.settings.Quota;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Manages the tokens of a server. */
@Command(
    name = "tokens",
    description = "Create tokens for callers.",
    subcommands = TokensCommand.Create.class)
final class TokensCommand {
  /** Creates a token. A token is valid as long as the file contains its line. */
  @Command(
      name = "create",
      description = "Create a token, print it once, append its hash to a file.",
      footer = {
        "  timewheel tokens create ops --role operate --tokens /etc/timewheel/tokens",
        "  timewheel tokens create shop-backend --role produce --role consume \\",
        "      --namespace shop --expires P90D --tokens tokens",
        "  timewheel tokens create batch --role produce --max-writes 500",
        "To revoke a token, delete its line from the file. The server needs no restart."
      })
  static final class Create implements Callable<Integer> {
    @Spec private @Nullable CommandSpec spec;

    @Parameters(paramLabel = "NAME", description = "Name of the holder, for the audit log.")
    private String name = "";

    @Option(
        names = "--role",
        required = true,
        split = ",",
        paramLabel = "ROLE",
        description = "produce, consume, operate, read, metrics or admin; repeatable.")
    private Set<String> roles = new LinkedHashSet<>();

    @Option(
        names = "--namespace",
        paramLabel = "NS",
        description = "Allow this namespace only; repeatable (default: all).")
    private Set<String> namespaces = new LinkedHashSet<>();

    @Option(
        names = "--expires",
        paramLabel = "DURATION",
        description = "Expire after this time (default: never, max: P36500D).")
    private @Nullable Duration life;

    @Option(
        names = "--max-pending",
        paramLabel = "N",
        description = "Limit unfinished timers in each --namespace (default: none).")
    private @Nullable Long pendingTimers;

    @Option(
        names = "--max-claims",
        paramLabel = "N",
        description = "Limit concurrent claims (default: none).")
    private @Nullable Long claims;

    @Option(
        names = "--max-streams",
        paramLabel = "N",
        description = "Limit concurrent event streams (default: none).")
    private @Nullable Long streams;

    @Option(
        names = "--max-writes",
        paramLabel = "N",
        description = "Limit timers written per second (default: none).")
    private @Nullable Long writesPerSecond;

    @Option(
        names = "--tokens",
        paramLabel = "FILE",
        description = "File of tokens, created if absent (default: ${DEFAULT-VALUE}).",
        defaultValue = "./timewheel-tokens")
    private Path tokens = Path.of("timewheel-tokens");

    private record Made(String name, Set<String> roles, String token) {}

    @Override
    public Integer call() {
      var line = requireNonNull(spec).commandLine();
      try {
        if (pendingTimers != null && namespaces.isEmpty()) {
          throw Problem.invalid(
                  "namespace",
                  "--max-pending: is a limit in each namespace (expected: --namespace)")
              .failure();
        }
        Quota quota = new Quota(pendingTimers, claims, streams, writesPerSecond).checked();
        Tokens.NewToken wanted = new Tokens.NewToken(name, roles, namespaces, life, quota);
        String token = Tokens.add(tokens, wanted, InstantSource.system());
        line.getOut()
            .println(ConfigCommand.isJson(spec) ? Json.text(new Made(name, roles, token)) : token);
        line.getOut().flush();
        line.getErr().println("timewheel: " + name + " added to " + tokens);
        line.getErr().flush();
        return 0;
      } catch (Problem.Failure | IllegalArgumentException e) {
        throw new ParameterException(line, String.valueOf(e.getMessage()));
      } catch (IOException e) {
        throw new CommandException(
            e instanceof FileAlreadyExistsException ? ExitCode.CONFLICT : ExitCode.FAILED,
            CommandException.reason(e));
      }
    }
  }
}
