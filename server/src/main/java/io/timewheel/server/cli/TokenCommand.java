// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import io.timewheel.server.json.Json;
import io.timewheel.server.problem.Problem;
import io.timewheel.server.security.Tokens;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
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

/** Makes a token. To take it back, strike its line out of the file: it holds at once. */
@Command(
    name = "token",
    description = "Makes a token: prints it, once, and appends its hash to the file of tokens.",
    footer = {
      "",
      "Examples:",
      "  timewheel config token ops --role admin --tokens /etc/timewheel/tokens",
      "  timewheel config token shop-backend --role write \\",
      "      --namespace shop --tokens tokens",
      "A line that is taken out of the file takes its token back, at once."
    })
final class TokenCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "NAME", description = "Who has it, for the audit log.")
  private String name = "";

  @Option(
      names = "--role",
      required = true,
      paramLabel = "ROLE",
      description = "read, write or admin; each includes those before it.")
  private String role = "";

  @Option(
      names = "--namespace",
      paramLabel = "NS",
      description = "A namespace that it is for; repeatable. Without it, for all.")
  private Set<String> namespaces = new LinkedHashSet<>();

  @Option(
      names = "--tokens",
      required = true,
      paramLabel = "FILE",
      description = "The file of tokens; it is made if it is not there.")
  private Path tokens = Path.of("tokens");

  private record Made(String name, String role, String token) {}

  @Override
  public Integer call() {
    if (spec == null) {
      throw new IllegalStateException("not on a command line");
    }
    var line = spec.commandLine();
    try {
      String token = Tokens.add(tokens, name, role, namespaces);
      line.getOut()
          .println(ConfigCommand.isJson(spec) ? Json.text(new Made(name, role, token)) : token);
      line.getOut().flush();
      return 0;
    } catch (Problem.Failure e) {
      throw new ParameterException(line, String.valueOf(e.getMessage()));
    } catch (IOException e) {
      line.getErr().println("timewheel: " + Timewheel.reason(e));
      return e instanceof FileAlreadyExistsException ? ExitCode.CONFLICT : ExitCode.FAILED;
    }
  }
}
