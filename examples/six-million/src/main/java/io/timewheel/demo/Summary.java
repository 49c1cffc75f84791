// SPDX-License-Identifier: Apache-2.0
package io.timewheel.demo;

import java.util.function.ToDoubleFunction;

/** Prints the results: a name, a number, and a remark. */
final class Summary {
  private static final int BAR_WIDTH = 24;

  private final Figures figures;
  private final Screen screen;

  Summary(Figures figures, Screen screen) {
    this.figures = figures;
    this.screen = screen;
  }

  void print() {
    starting();
    lag();
    wakeUps();
    levels();
    verdict();
  }

  private void starting() {
    long started = figures.started();
    int threads = figures.options().threads();
    long nanos = figures.starting().nanos();
    double nanosPerStart = (double) nanos * threads / started;
    title("Starting");
    row("rate", Format.rate(started, nanos), "with " + count(threads, "thread"));
    row("one start", Format.decimal(nanosPerStart, 0) + " ns", "of its thread's time");
    String collecting = Format.decimal(figures.starting().collectionNanos() / 1e9, 2) + " s";
    row("garbage collection", collecting, "of " + Format.decimal(nanos / 1e9, 2) + " s");
    Figures.Memory memory = figures.memory();
    if (memory.isMeaningful()) {
      String bytes = Format.decimal(memory.bytesPerTimeout(), 1) + " bytes";
      row("one pending timeout", bytes, "its handle included; growth of the heap");
    } else {
      row("one pending timeout", "unknown", "too few timeouts to measure it");
    }
  }

  private void lag() {
    title("Lag in milliseconds");
    lagRow("", "while starting", "afterwards");
    lagRow("p50", lags -> lags.percentileNanos(50));
    lagRow("p99", lags -> lags.percentileNanos(99));
    lagRow("p99.9", lags -> lags.percentileNanos(99.9));
    lagRow("max", LagHistogram::maxNanos);
    LagHistogram starting = figures.lags().whileStarting;
    LagHistogram after = figures.lags().afterwards;
    lagRow("expired", Format.count(starting.count()), Format.count(after.count()));
    lagRow("early", Format.count(starting.early()), Format.count(after.early()));
    screen.line("  While starting, the timer thread shares the processors with the starting");
    screen.line("  threads and the garbage collector. Afterwards, half a tick of the lag,");
    screen.line("  0.5 ms, is the mean that the tick itself adds.");
  }

  private void wakeUps() {
    title("The timer thread");
    row("wake-ups", Format.count(figures.stats().wakeups()), "in all");
    row("while firing", Format.decimal(figures.firing().perSecond(), 0), "a second");
    row("with nothing due", Format.decimal(figures.idle().perSecond(), 1), "a second");
    if (figures.timerCpuNanos() >= 0) {
      row("processor time", Format.seconds(figures.timerCpuNanos()), "");
    }
  }

  private void levels() {
    Levels levels = figures.levels();
    long most = 1;
    for (int level = 0; level < levels.size(); level++) {
      most = Math.max(most, levels.count(level));
    }
    title("Pending at the end, by the level for the time left");
    for (int level = 0; level < levels.size(); level++) {
      long count = levels.count(level);
      screen.line(
          "  level %-2d %-20s %12s  %s"
              .formatted(
                  level,
                  levels.range(level),
                  Format.count(count),
                  screen.bar((double) count / most, BAR_WIDTH))
              .stripTrailing());
    }
  }

  private void verdict() {
    title("Balance");
    row("started", Format.count(figures.started()), "");
    row("expired", Format.count(figures.expired()), "");
    row("cancelled", Format.count(figures.cancelled()), "");
    row("pending", Format.count(figures.returned()), "returned by stop()");
    row("moved", Format.count(figures.moved()), "not part of the sum");
    screen.line("");
    screen.line(judgement());
  }

  private String judgement() {
    if (figures.lags().early() > 0) {
      return "FAILED: " + count(figures.lags().early(), "timeout") + " fired early.";
    }
    if (!figures.isBalanced()) {
      return "FAILED: expired, cancelled and pending do not add up to started.";
    }
    if (!figures.statsAgree()) {
      return "FAILED: the timer's counts differ: " + figures.stats();
    }
    return "Each timeout is accounted for, and none fired early.";
  }

  private void title(String title) {
    screen.line("");
    screen.line(title);
  }

  private void row(String name, String number, String remark) {
    screen.line("  %-22s%14s   %s".formatted(name, number, remark).stripTrailing());
  }

  private void lagRow(String name, ToDoubleFunction<LagHistogram> nanos) {
    lagRow(
        name,
        millis(nanos.applyAsDouble(figures.lags().whileStarting)),
        millis(nanos.applyAsDouble(figures.lags().afterwards)));
  }

  private void lagRow(String name, String starting, String after) {
    screen.line("  %-22s%14s%18s".formatted(name, starting, after));
  }

  private static String millis(double nanos) {
    return Format.decimal(nanos / 1e6, 3);
  }

  private static String count(long number, String noun) {
    return Format.count(number) + " " + noun + (number == 1 ? "" : "s");
  }
}
