// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.jdbc.JdbcTimerStore;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.IncompleteExportException;
import io.timewheel.durable.spi.IncompleteRepairException;
import io.timewheel.durable.spi.StoreException;
import io.timewheel.durable.spi.VerifyReport;
import io.timewheel.server.settings.Settings;
import io.timewheel.server.store.TemporaryFiles;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** Works on the data of a server, with or without a running server. */
@Command(
    name = "store",
    description = {
      "Verify, repair, back up and convert the data of a server.",
      "While the server runs, it makes a copy, and verify and export read the copy.",
      "Stop the server before a repair of a directory, and before an import."
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  timewheel store verify --data ./timewheel-data",
      "  timewheel store repair --store jdbc:postgresql://db.example/timewheel",
      "  timewheel store backup /backups/timewheel-2026-12-01",
      "  timewheel store export timers.jsonl     # - is standard output",
      "  timewheel store import timers.jsonl"
    })
final class StoreCommand {
  private static final int LINES_A_REPORT = 100_000;

  @ParentCommand private @Nullable Timewheel root;

  @Spec private @Nullable CommandSpec spec;

  private @Nullable DatabaseOptions shared;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      scope = picocli.CommandLine.ScopeType.INHERIT,
      defaultValue = "./timewheel-data",
      description = "Directory of the data (default: ${DEFAULT-VALUE}).")
  private Path data = Path.of("timewheel-data");

  private Globals globals() {
    return Timewheel.globalsOf(root);
  }

  void share(DatabaseOptions options) {
    shared = options;
  }

  /**
   * {@return the database to work on; null for the directory} A directory on the command line takes
   * precedence over a database in the settings.
   */
  private @Nullable DatabaseOptions database() {
    DatabaseOptions options = shared;
    if (options == null || options.url() == null) {
      return null;
    }
    boolean isNamed = isOnLine("--store");
    if (isNamed && isOnLine("--data")) {
      throw new CommandException(
          ExitCode.USAGE, "--data and --store exclude each other (expected: one of them)");
    }
    return isNamed || !isOnLine("--data") ? options : null;
  }

  private boolean isOnLine(String option) {
    ParseResult parsed = requireNonNull(spec).commandLine().getParseResult();
    while (parsed != null && !parsed.hasMatchedOption(option)) {
      parsed = parsed.subcommand();
    }
    return parsed != null;
  }

  private CommandException onlyADirectory(String command, String instead) {
    return new CommandException(
        ExitCode.USAGE,
        "store %s needs a directory (--data), and %s names a database: %s"
            .formatted(command, sourceOfDatabase(), instead));
  }

  /** {@return the option, the variable or the file that configures the database} */
  private String sourceOfDatabase() {
    if (!isOnLine("--store")
        && requireNonNull(spec).defaultValueProvider() instanceof Settings settings) {
      Settings.Found found = settings.find("store");
      if (found != null) {
        return found.source();
      }
    }
    return "--store";
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
      remedy = Timewheel.reason(e);
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
      String failure = "the verify after the repair failed: " + Timewheel.reason(e);
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

  @Command(name = "backup", description = "Make a copy that a server can open.")
  int backup(
      @Parameters(paramLabel = "DIRECTORY", description = "New directory of the copy.") Path target)
      throws IOException {
    if (database() != null) {
      throw onlyADirectory("backup", "back a database up by pg_dump or mariadb-dump");
    }
    try (Data existing = existing()) {
      existing.copyTo(target);
    }
    done(
        ApiClient.JSON.createObjectNode().put("directory", target.toString()),
        "copied to " + target);
    return ExitCode.DONE;
  }

  @Command(name = "export", description = "Export all timers as lines of JSON.")
  int export(
      @Parameters(
              paramLabel = "FILE",
              description = "New file, device or pipe (-: standard output).")
          Path file)
      throws IOException {
    if (database() != null) {
      throw onlyADirectory("export", "use pg_dump or mariadb-dump");
    }
    boolean standard = file.toString().equals("-");
    boolean stream = isStream(file);
    if (!standard && !stream && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new CommandException(ExitCode.FAILED, file + " already exists");
    }
    try (Data existing = existing();
        RocksTimerStore store = existing.open()) {
      Progress progress = new Progress(globals().err(), total(store));
      if (standard) {
        return export(store, new CountingOutput(System.out, progress)).exitCode();
      }
      if (stream) {
        // No summary is printed: it could go to the same output as the timers.
        try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
          return export(store, new CountingOutput(out, progress)).exitCode();
        }
      }
      // The rename shows that the file is complete.
      Path parent = file.toAbsolutePath().getParent();
      String name = file.getFileName().toString();
      try (TemporaryFiles part = new TemporaryFiles(Files.createTempFile(parent, name, ".part"))) {
        Exported exported;
        try (OutputStream out = Files.newOutputStream(part.path())) {
          exported = export(store, new CountingOutput(out, progress));
        }
        Files.move(part.path(), file, StandardCopyOption.ATOMIC_MOVE);
        done(
            counted(exported.timers(), file),
            "%,d timers exported to %s".formatted(exported.timers(), file));
        return exported.exitCode();
      }
    }
  }

  /** {@return whether the file is a pipe or a device, which must not be replaced by a file} */
  private static boolean isStream(Path file) {
    return Files.exists(file) && !Files.isRegularFile(file) && !Files.isDirectory(file);
  }

  private record Exported(long timers, int exitCode) {}

  /** Exports a store. If the store is damaged, the readable timers are exported. */
  private Exported export(RocksTimerStore store, OutputStream out) {
    try {
      return new Exported(store.exportTo(out), ExitCode.DONE);
    } catch (IncompleteExportException e) {
      PrintWriter err = globals().err();
      e.texts().forEach(text -> err.println(Printer.clean(text)));
      err.println("timewheel: incomplete: %,d timers could not be read".formatted(e.unread()));
      err.flush();
      return new Exported(e.timers(), ExitCode.FAILED);
    }
  }

  @Command(
      name = "import",
      description = "Import timers from lines of JSON; the newer version wins.")
  int importFrom(
      @Parameters(paramLabel = "FILE", description = "File to import (-: standard input).")
          Path file)
      throws IOException {
    if (database() != null) {
      throw onlyADirectory("import", "use the tools of the database");
    }
    // The file is opened before the store is created: if it cannot be read, no empty store remains.
    try (InputStream in = input(file);
        RocksTimerStore store = open()) {
      long timers = store.importFrom(new CountingInput(in, new Progress(globals().err(), 0)));
      done(counted(timers, file), "%,d timers imported from %s".formatted(timers, file));
    }
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
  private void done(ObjectNode result, String line) {
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

  private RocksTimerStore open() {
    try {
      return RocksTimerStore.open(data);
    } catch (StoreException e) {
      throw new CommandException(ExitCode.FAILED, String.valueOf(e.getMessage()));
    }
  }

  private static long total(RocksTimerStore store) {
    return store.counts().values().stream()
        .map(Map<TimerState, Long>::values)
        .flatMap(java.util.Collection::stream)
        .mapToLong(Long::longValue)
        .sum();
  }

  /** Prints the progress of a long command to the terminal. */
  private static final class Progress {
    private final PrintWriter err;
    private final long total;
    private long lines;

    Progress(PrintWriter err, long total) {
      this.err = err;
      this.total = total;
    }

    void count(byte[] bytes, int from, int length) {
      for (int i = from; i < from + length; i++) {
        if (bytes[i] == '\n' && ++lines % LINES_A_REPORT == 0) {
          err.println(total == 0 ? "%,d".formatted(lines) : "%,d of %,d".formatted(lines, total));
          err.flush();
        }
      }
    }
  }

  private static final class CountingOutput extends FilterOutputStream {
    private final Progress progress;

    CountingOutput(OutputStream out, Progress progress) {
      super(out);
      this.progress = progress;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      progress.count(bytes, from, length);
    }
  }

  private static final class CountingInput extends FilterInputStream {
    private final Progress progress;

    CountingInput(InputStream in, Progress progress) {
      super(in);
      this.progress = progress;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      int read = in.read(bytes, from, length);
      progress.count(bytes, from, Math.max(0, read));
      return read;
    }
  }
}
