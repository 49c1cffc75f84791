// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.rocksdb.TimerLines;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.maintenance.IncompleteExportException;
import io.timewheel.durable.spi.maintenance.IncompleteRepairException;
import io.timewheel.durable.spi.maintenance.StoreCopy;
import io.timewheel.durable.spi.maintenance.VerifyReport;
import io.timewheel.server.cli.serve.DatabaseOptions;
import io.timewheel.server.settings.CommandException;
import io.timewheel.server.settings.ExitCode;
import io.timewheel.server.store.TemporaryFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** Works on the data of a server, with or without a running server. */
@Command(
    name = "store",
    description = {
      "Verify, repair, back up, copy and convert the data of a server.",
      "While the server of a directory runs, it makes a copy, and verify, export and copy read it.",
      "Stop the server before a repair of a directory, and before an import.",
      "Nodes of a database may run, except during an import into it."
    },
    subcommands = {CopyCommand.class, MigrateCommand.class},
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel store verify --data ./timewheel-data",
      "  timewheel store repair --store jdbc:postgresql://db.example/timewheel",
      "  timewheel store backup /backups/timewheel-2026-12-01",
      "  timewheel store export timers.jsonl     # - is standard output",
      "  timewheel store import timers.jsonl",
      "  timewheel store copy --data ./timewheel-data \\",
      "      --to-store jdbc:postgresql://db.example/timewheel"
    })
final class StoreCommand extends ClientCommand {
  @Spec private @Nullable CommandSpec spec;

  @Mixin private DatabaseOptions database = new DatabaseOptions();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      scope = picocli.CommandLine.ScopeType.INHERIT,
      defaultValue = "./timewheel-data",
      description = "Directory of the data (default: ${DEFAULT-VALUE}).")
  private Path data = Path.of("timewheel-data");

  /**
   * {@return the database to work on; null for the directory} A directory on the command line takes
   * precedence over a database in the settings.
   */
  @Nullable DatabaseOptions database() {
    if (database.url() == null) {
      return null;
    }
    boolean isNamed = isOnLine("--store");
    if (isNamed && isOnLine("--data")) {
      throw new CommandException(
          ExitCode.USAGE, "--data and --store exclude each other (expected: one of them)");
    }
    return isNamed || !isOnLine("--data") ? database : null;
  }

  private boolean isOnLine(String option) {
    ParseResult parsed = requireNonNull(spec).commandLine().getParseResult();
    while (parsed != null && !parsed.hasMatchedOption(option)) {
      parsed = parsed.subcommand();
    }
    return parsed != null;
  }

  @Command(name = "verify", description = "Compare every timer with every index and counter.")
  int verify() throws IOException {
    DatabaseOptions database = database();
    if (database != null) {
      return found(database.using(JdbcTimerStore::verify));
    }
    try (Data existing = existing();
        RocksTimerStore store = existing.open()) {
      return found(store.verify());
    }
  }

  private int found(VerifyReport report) {
    ObjectNode result = ApiClient.JSON.createObjectNode();
    result.put("timers", report.timers()).put("problems", report.problems());
    report.texts().forEach(result.putArray("texts")::add);
    report.texts().forEach(globals().printer()::line);
    done(result, "%,d timers, %,d problems".formatted(report.timers(), report.problems()));
    return report.isClean() ? ExitCode.DONE : ExitCode.FAILED;
  }

  @Command(
      name = "repair",
      description = {
        "Fix indexes and counters that do not match the timers.",
        "Nodes on a shared database may run. Stop the server of a directory first."
      })
  int repair() throws IOException {
    DatabaseOptions database = database();
    if (database != null) {
      return database.using(store -> repair(store::repair, store::verify));
    }
    try (RocksTimerStore store = Data.alone(data)) {
      return repair(store::repair, store::verify);
    }
  }

  /** Repairs and verifies. Prints the repaired problems even if a later step fails. */
  int repair(Supplier<VerifyReport> repair, Supplier<VerifyReport> verify) {
    VerifyReport fixed;
    String remedy = null;
    try {
      fixed = repair.get();
    } catch (IncompleteRepairException e) {
      fixed = e.repaired();
      remedy = CommandException.reason(e);
    }
    Printer printer = globals().printer();
    ObjectNode result = ApiClient.JSON.createObjectNode().put("repaired", fixed.problems());
    fixed.texts().forEach(result.putArray("repairs")::add);
    fixed.texts().forEach(text -> printer.line("repaired: " + text));
    VerifyReport left;
    try {
      left = verify.get();
    } catch (RuntimeException e) {
      done(result, "%,d problems repaired".formatted(fixed.problems()));
      String failure = "the verify after the repair failed: " + CommandException.reason(e);
      throw new CommandException(
          ExitCode.FAILED, remedy == null ? failure : remedy + "; " + failure);
    }
    result.put("timers", left.timers()).put("problems", left.problems());
    left.texts().forEach(result.putArray("texts")::add);
    left.texts().forEach(text -> printer.line("not repaired: " + text));
    done(
        result,
        "%,d timers, %,d problems repaired, %,d left"
            .formatted(left.timers(), fixed.problems(), left.problems()));
    if (remedy != null) {
      throw new CommandException(ExitCode.FAILED, remedy);
    }
    return left.isClean() ? ExitCode.DONE : ExitCode.FAILED;
  }

  @Command(
      name = "backup",
      description = {
        "Make a copy that a server can open.",
        "A copy of a database contains its timers only; its own tools copy everything."
      })
  int backup(
      @Parameters(paramLabel = "DIRECTORY", description = "New directory of the copy.") Path target)
      throws IOException {
    int exitCode = ExitCode.DONE;
    if (database() == null) {
      try (Data existing = existing()) {
        existing.copyTo(target);
      }
    } else if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new CommandException(ExitCode.FAILED, target + " already exists");
    } else {
      exitCode = filling(target, copy -> reading(store -> copy(store, copy, null).exitCode()));
    }
    done(
        ApiClient.JSON.createObjectNode().put("directory", target.toString()),
        "copied to " + target);
    return exitCode;
  }

  /**
   * Fills the store of a new directory. The rename shows that the directory is complete. The part
   * of a killed copy is replaced.
   */
  <T> T filling(Path directory, Work<T> work) throws IOException {
    Path target = directory.toAbsolutePath().normalize();
    Path part = target.resolveSibling(target.getFileName() + ".part");
    if (isSource(part)) {
      throw new CommandException(
          ExitCode.USAGE,
          part + " is the source, and would be replaced (expected: another target)");
    }
    if (Files.exists(part, LinkOption.NOFOLLOW_LINKS)) {
      Data.alone(part).close(); // refuses the part of a copy that runs, and other files
    }
    try (TemporaryFiles files = new TemporaryFiles(part)) {
      TemporaryFiles.delete(part);
      Files.createDirectories(target.getParent());
      T result;
      try (RocksTimerStore store = open(files.path())) {
        result = work.with(store);
      }
      Files.move(files.path(), target);
      return result;
    }
  }

  @Command(name = "export", description = "Export all timers as lines of JSON.")
  int export(
      @Parameters(
              paramLabel = "FILE",
              description = "New file, device or pipe (-: standard output).")
          Path file)
      throws IOException {
    boolean standard = file.toString().equals("-");
    boolean stream = isStream(file);
    if (!standard && !stream && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new CommandException(ExitCode.FAILED, file + " already exists");
    }
    return reading(source -> export(source, file, standard, stream));
  }

  /** Work with the timers of a store. */
  interface Work<T> {
    T with(TimerStore source) throws IOException;
  }

  /** Does work with the timers of the database, of the directory, or of a copy of it. */
  <T> T reading(Work<T> work) throws IOException {
    DatabaseOptions database = database();
    if (database != null) {
      return database.using(work::with);
    }
    try (Data existing = existing();
        RocksTimerStore store = existing.open()) {
      return work.with(store);
    }
  }

  private int export(TimerStore source, Path file, boolean standard, boolean stream)
      throws IOException {
    TransferProgress progress = progress(source);
    if (standard) {
      return export(source, progress.counting(System.out)).exitCode();
    }
    if (stream) {
      // No summary is printed: it could go to the same output as the timers.
      try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
        return export(source, progress.counting(out)).exitCode();
      }
    }
    // The rename shows that the file is complete.
    Path parent = file.toAbsolutePath().getParent();
    String name = file.getFileName().toString();
    try (TemporaryFiles part = new TemporaryFiles(Files.createTempFile(parent, name, ".part"))) {
      Written exported;
      try (OutputStream out = Files.newOutputStream(part.path())) {
        exported = export(source, progress.counting(out));
      }
      Files.move(part.path(), file, StandardCopyOption.ATOMIC_MOVE);
      done(
          counted(exported.timers(), file),
          "%,d timers exported to %s".formatted(exported.timers(), file));
      return exported.exitCode();
    }
  }

  /** {@return whether the file is a pipe or a device, which must not be replaced by a file} */
  private static boolean isStream(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
  }

  /**
   * The result of an export or a copy.
   *
   * @param timers the number of timers that were written
   */
  record Written(long timers, int exitCode) {}

  private Written export(TimerStore source, OutputStream out) {
    return written(() -> TimerLines.exportTo(source, out));
  }

  private TransferProgress progress(TimerStore source) {
    return new TransferProgress(globals().err(), timers(source));
  }

  /** {@return the number of timers in a store} */
  static long timers(TimerStore store) {
    return store.counts().values().stream()
        .map(Map<TimerState, Long>::values)
        .flatMap(Collection::stream)
        .mapToLong(Long::longValue)
        .sum();
  }

  /**
   * Copies a store. If it is damaged, the readable timers are copied.
   *
   * @param name the name of a target that stays after a failure; null if a failure deletes the
   *     target
   */
  Written copy(TimerStore source, TimerStore target, @Nullable String name) {
    StoreCopy copy = new StoreCopy(target, progress(source)::reached);
    LongSupplier work =
        () -> {
          source.copyTo(copy);
          return copy.written();
        };
    int exitCode = into(name, copy, () -> written(work)).exitCode();
    return new Written(copy.written(), exitCode);
  }

  /** Describes a target that stays if the work fails, because it lacks timers then. */
  private static <T> T into(@Nullable String target, StoreCopy copy, Supplier<T> work) {
    try {
      return work.get();
    } catch (RuntimeException e) {
      if (target == null || !copy.hasBegun()) {
        throw e;
      }
      throw new CommandException(
          ExitCode.FAILED,
          "%s; %s lacks timers: repeat the command before starting a server on it (%,d timers were written)"
              .formatted(CommandException.reason(e), target, copy.written()));
    }
  }

  /** Exports or copies a store. If it is damaged, the readable timers are written. */
  private Written written(LongSupplier work) {
    try {
      return new Written(work.getAsLong(), ExitCode.DONE);
    } catch (IncompleteExportException e) {
      PrintWriter err = globals().err();
      e.texts().forEach(text -> err.println(Printer.clean(text)));
      err.println("timewheel: incomplete: %,d timers could not be read".formatted(e.unread()));
      err.flush();
      return new Written(e.timers(), ExitCode.FAILED);
    }
  }

  @Command(
      name = "import",
      description = {
        "Import timers from lines of JSON; the newer version wins.",
        "It can be repeated. Stop the server or all nodes of the database before."
      })
  int importFrom(
      @Parameters(paramLabel = "FILE", description = "File to import (-: standard input).")
          Path file)
      throws IOException {
    // The file is opened before the store is created: if it cannot be read, no empty store remains.
    try (InputStream in = input(file)) {
      DatabaseOptions database = database();
      if (database != null) {
        String target = requireNonNull(database.url());
        return database.using(store -> importFrom(in, file, store, target));
      }
      if (Files.notExists(data)) {
        return filling(data, store -> importFrom(in, file, store, null));
      }
      RocksTimerStore.restrict(data);
      try (RocksTimerStore store = open(data)) {
        return importFrom(in, file, store, data.toString());
      }
    }
  }

  private int importFrom(InputStream in, Path file, TimerStore store, @Nullable String target) {
    TransferProgress progress = new TransferProgress(globals().err(), 0);
    StoreCopy copy = new StoreCopy(store, progress::reached);
    long timers =
        into(
            target,
            copy,
            () -> {
              TimerLines.readTo(in, new ImportCheck(copy));
              return copy.written();
            });
    done(counted(timers, file), "%,d timers imported from %s".formatted(timers, file));
    return ExitCode.DONE;
  }

  private static InputStream input(Path file) throws IOException {
    if (file.toString().equals("-")) {
      return System.in;
    }
    if (Files.isDirectory(file)) { // Java opens a directory without an error, but cannot read it
      throw new CommandException(ExitCode.FAILED, file + " is a directory");
    }
    return Files.newInputStream(file);
  }

  private static ObjectNode counted(long timers, Path file) {
    return ApiClient.JSON.createObjectNode().put("timers", timers).put("file", file.toString());
  }

  /** Prints the result, as a line or as JSON. */
  void done(ObjectNode result, String line) {
    Printer printer = globals().printer();
    if (printer.isJson()) {
      printer.json(result);
    } else {
      printer.line(line);
    }
  }

  private Data existing() throws IOException {
    return Data.of(data, globals()::client);
  }

  /** {@return whether the options name a directory, and it is this one} */
  boolean isSource(Path directory) throws IOException {
    return database() == null
        && (data.toAbsolutePath().normalize().equals(directory.toAbsolutePath().normalize())
            || (Files.exists(data)
                && Files.exists(directory)
                && Files.isSameFile(data, directory)));
  }

  /** Opens the store in a directory, or creates an empty one there. */
  static RocksTimerStore open(Path directory) {
    try {
      return RocksTimerStore.open(directory);
    } catch (StoreException e) {
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
    }
  }
}
