// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import io.timewheel.durable.jdbc.JdbcTimerStoreBuilder;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.server.cli.serve.ConfigCommand;
import io.timewheel.server.cli.serve.DatabaseOptions;
import io.timewheel.server.json.Json;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.store.SharedDatabase;
import java.io.IOException;
import java.io.PrintWriter;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Prepares the tables of a shared database for this release, and switches to its format. */
@Command(
    name = "migrate",
    description = {
      "Create the tables of a shared database, or prepare them for this release.",
      "Nodes of an older release continue until --finish."
    },
    footer = {
      "  timewheel store migrate --print \\",
      "      --store jdbc:postgresql://db.example/timewheel",
      "  timewheel store migrate --finish \\",
      "      --store jdbc:mariadb://db.example/timewheel --store-user admin"
    })
public final class MigrateCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @ParentCommand private @Nullable StoreCommand store;

  @Option(names = "--print", description = "Print the SQL, and change nothing.")
  private boolean print;

  @Option(names = "--finish", description = "Switch to this format; fails while older nodes run.")
  private boolean finish;

  private record Migrated(int format, boolean pending) {}

  @Override
  public Integer call() throws IOException {
    CommandSpec command = requireNonNull(spec);
    DatabaseOptions options = requireNonNull(store).database();
    SharedDatabase shared = options == null ? null : options.database();
    if (shared == null) {
      throw new ParameterException(command.commandLine(), "--store is missing");
    }
    PrintWriter out = command.commandLine().getOut();
    try (HikariDataSource pool = new HikariDataSource(shared.smallPool())) {
      JdbcTimerStoreBuilder builder = shared.builder(pool);
      if (print) {
        out.print(builder.migration(finish));
      } else {
        int format = builder.migrate(finish);
        boolean pending = !builder.migration(true).isEmpty();
        out.println(
            ConfigCommand.isJson(command)
                ? Json.text(new Migrated(format, pending))
                : text(format, pending));
      }
      out.flush();
      return 0;
    } catch (StoreException e) {
      throw new CommandException(exitCode(e), reason(e));
    }
  }

  public static int exitCode(StoreException failure) {
    if (failure.kind() == StoreException.Kind.REJECTED) {
      return ExitCode.CONFLICT;
    }
    boolean unreachable =
        failure.getCause() instanceof SQLException cause
            && cause.getSQLState() != null
            && cause.getSQLState().startsWith("08");
    return unreachable ? ExitCode.UNREACHABLE : ExitCode.FAILED;
  }

  /** Returns the message of the database, which is more specific than the message of the pool. */
  private static String reason(StoreException failure) {
    Throwable cause = failure.getCause();
    Throwable first = cause == null ? null : cause.getCause();
    return failure.getMessage() + (first == null ? "" : ": " + first.getMessage());
  }

  private static String text(int format, boolean pending) {
    return "format "
        + format
        + (pending ? ", prepared for a newer one: --finish, when all nodes have this release" : "");
  }
}
