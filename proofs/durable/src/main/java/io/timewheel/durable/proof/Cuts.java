// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import static java.util.Comparator.comparingLong;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.proof.Changes.Found;
import io.timewheel.durable.spi.TimerPage;
import io.timewheel.durable.spi.TimerQuery;
import io.timewheel.durable.spi.TimerStore;
import io.timewheel.durable.spi.record.TimerRecord;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Simulates power cuts. A kill cannot simulate them, because the operating system still writes the
 * data of a killed process. Copies a store at one moment, and damages the end of the write-ahead
 * log of each copy in many ways. Each copy must contain the state of an earlier moment.
 */
public final class Cuts {
  private static final String USAGE =
      "--cuts N (20), --minutes N (the time for starting cuts), --per-copy N (10), --seed N,"
          + " --fault NAME, --directory PATH";
  private static final Set<String> NAMES =
      Set.of("cuts", "minutes", "per-copy", "seed", "fault", "directory");

  /**
   * An injected fault that this program must find: a timer is missing, but timers that were stored
   * later are present.
   */
  static final String HOLE = "hole";

  private static final int TAIL_BYTES = 4_096;
  private static final int PAGE = 1_000;

  private final int cuts;
  private final TimeLimit limit;
  private final int perCopy;
  private final Random random;
  private final String fault;
  private final Path directory;
  private final Path store;
  private final Path log;
  private final Report report = new Report();

  /** The result of a run. */
  static final class Report {
    final List<String> violations = new ArrayList<>();
    int copies;
    int cuts;
    int effective;
    int refused;
    long there;
    long gone;

    @Override
    public String toString() {
      return String.format(
          "%d cuts of %d copies, %d of which lost changes, %d were refused%n%,d changes remain in"
              + " total, %,d committed ones were cut off; %d violations",
          cuts, copies, effective, refused, there, gone, violations.size());
    }
  }

  Cuts(int cuts, int minutes, int perCopy, long seed, String fault, Path directory) {
    this.cuts = cuts;
    limit = new TimeLimit(minutes);
    this.perCopy = perCopy;
    random = new Random(seed);
    this.fault = fault;
    this.directory = directory.toAbsolutePath();
    store = this.directory.resolve("store");
    log = this.directory.resolve("log");
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.parse(args, USAGE, NAMES);
    int minutes = (int) options.number("minutes", 0);
    Report report =
        new Cuts(
                (int) options.number("cuts", minutes == 0 ? 20 : TimeLimit.MAX_STEPS),
                minutes,
                (int) options.number("per-copy", 10),
                options.number("seed", System.nanoTime()),
                options.text("fault", Log.NONE),
                Path.of(options.text("directory", "target/cuts")))
            .run();
    System.out.println(report);
    report.violations.stream().limit(20).forEach(System.out::println);
    System.exit(report.violations.isEmpty() ? 0 : 1);
  }

  Report run() throws IOException, InterruptedException {
    Directories.delete(directory);
    Files.createDirectories(directory);
    while (goesOn() && report.violations.isEmpty()) {
      Path copy = directory.resolve("copy-" + report.copies++);
      Changes changes = takeCopy(copy);
      judge(copy, changes, "whole", true);
      for (int i = 0; i < perCopy && goesOn(); i++) {
        cut(copy, changes);
      }
      Directories.delete(copy);
    }
    return report;
  }

  private boolean goesOn() {
    return report.cuts < cuts && !limit.isOver();
  }

  /** Runs a child, and copies its store, either while the child is suspended or after its death. */
  private Changes takeCopy(Path copy) throws IOException, InterruptedException {
    ChildProcess child =
        ChildProcess.start(
            CutChild.class,
            directory.resolve("errors"),
            List.of("-Xmx128m"),
            store.toString(),
            log.toString(),
            Integer.toString(report.copies));
    if (child.await(Child.Mark.STARTED.name()) == null) {
      throw new IllegalStateException("the child has ended: see " + directory.resolve("errors"));
    }
    Thread.sleep(200 + random.nextInt(1_500));
    if (random.nextBoolean()) {
      child.suspend();
    } else {
      child.kill();
    }
    copy(store, copy);
    Changes changes = new Changes();
    String text = Files.readString(log, StandardCharsets.UTF_8);
    text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach(changes::line);
    child.kill();
    return changes;
  }

  /**
   * Copies a store. Tables never change, so a copy shares them. It has its own copy of all other
   * files.
   */
  private static void copy(Path from, Path to) throws IOException {
    for (Path path : Directories.content(from)) {
      Path copy = to.resolve(from.relativize(path));
      if (Files.isDirectory(path)) {
        Files.createDirectories(copy);
      } else if (path.toString().endsWith(".sst")) {
        Files.createLink(copy, path);
      } else {
        Files.copy(path, copy);
      }
    }
  }

  private void cut(Path copy, Changes changes) throws IOException {
    Path victim = directory.resolve("victim");
    Directories.delete(victim);
    copy(copy, victim);
    List<Path> files = WriteAheadLog.files(victim);
    Path newest = files.get(files.size() - 1);
    long size = Files.size(newest);
    String what;
    if (size == 0) {
      what = "nothing to cut";
    } else if (random.nextInt(3) > 0) {
      long at = random.nextLong(size);
      WriteAheadLog.truncate(newest, at);
      what = newest.getFileName() + " cut at " + at + " of " + size;
      if (random.nextInt(3) == 0) {
        byte[] garbage = new byte[1 + random.nextInt(100)];
        random.nextBytes(garbage);
        Files.write(newest, garbage, StandardOpenOption.APPEND);
        what += ", followed by garbage";
      }
    } else {
      long at = Math.max(0, size - 1 - random.nextLong(Math.min(size, TAIL_BYTES)));
      WriteAheadLog.damage(newest, at, random);
      what = newest.getFileName() + " damaged at " + at + " of " + size;
    }
    report.cuts++;
    judge(victim, changes, what, false);
    Directories.delete(victim);
  }

  /**
   * Opens a store and judges its content.
   *
   * @param whole whether nothing may be missing
   */
  private void judge(Path damaged, Changes changes, String what, boolean whole) throws IOException {
    Path opened = damaged;
    if (whole) { // opening a store changes it
      opened = directory.resolve("victim");
      Directories.delete(opened);
      copy(damaged, opened);
    }
    for (String problem : Stores.verify(opened)) {
      report.violations.add(what + ": " + problem);
    }
    try (TimerStore timers = Stores.open(opened, Log.NONE)) {
      Map<String, Found> found = read(timers);
      if (fault.equals(HOLE) && found.size() > 1) {
        // The oldest change, so that others were committed after it.
        found.values().remove(Collections.min(found.values(), comparingLong(Found::dueMillis)));
      }
      Changes.Verdict verdict = changes.judge(found);
      verdict.violations().forEach(violation -> report.violations.add(what + ": " + violation));
      if (whole && verdict.acknowledgedButGone() > 0) {
        report.violations.add(
            what + ": " + verdict.acknowledgedButGone() + " committed changes are missing");
      }
      report.there += verdict.there();
      report.gone += verdict.acknowledgedButGone();
      report.effective += verdict.acknowledgedButGone() > 0 ? 1 : 0;
    }
  }

  private static Map<String, Found> read(TimerStore store) {
    Map<String, Found> found = new HashMap<>();
    TimerQuery all =
        new TimerQuery(
            null, "", EnumSet.allOf(TimerState.class), Long.MIN_VALUE, Long.MAX_VALUE, null, false);
    @Nullable TimerKey after = null;
    do {
      TimerPage page = store.page(all, after, PAGE);
      for (TimerRecord record : page.records()) {
        found.put(record.key().id(), new Found(record.dueAt(), record.state()));
      }
      after = page.next();
    } while (after != null);
    return found;
  }
}
