// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

/** How far something has come, how fast it goes, and how long it will still take. */
final class ProgressBar {
  private static final int BAR_WIDTH = 20;

  private final Screen screen;
  private final String title;
  private final long total;

  ProgressBar(Screen screen, String title, long total) {
    this.screen = screen;
    this.title = title;
    this.total = total;
  }

  void show(long done, long elapsedNanos) {
    screen.live(text(done, elapsedNanos));
  }

  void finish(long elapsedNanos) {
    screen.done(text(total, elapsedNanos));
  }

  String text(long done, long elapsedNanos) {
    double share = (double) done / total;
    return "%-11s%s %3d %% %12s %11s   %s"
        .formatted(
            title,
            screen.gauge(share, BAR_WIDTH),
            (int) (100 * share),
            Format.count(done),
            Format.rate(done, elapsedNanos),
            time(done, elapsedNanos));
  }

  private String time(long done, long elapsedNanos) {
    if (done == 0) {
      return "";
    }
    if (done < total) {
      double leftNanos = (double) elapsedNanos / done * (total - done);
      return Format.seconds((long) leftNanos) + " left";
    }
    return "in " + Format.seconds(elapsedNanos);
  }
}
