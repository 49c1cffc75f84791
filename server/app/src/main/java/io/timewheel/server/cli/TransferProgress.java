// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;

/** Prints the progress of a long export, import or copy: a line for each 100,000 timers. */
final class TransferProgress {
  private static final int TIMERS_PER_LINE = 100_000;

  private final PrintWriter err;
  private final long total;
  private long timers;

  /** Begins at zero of all timers; 0 if their number is unknown. */
  TransferProgress(PrintWriter err, long total) {
    this.err = err;
    this.total = total;
  }

  /** Notes the number of timers transferred so far. */
  void reached(long number) {
    boolean isReported = number / TIMERS_PER_LINE == timers / TIMERS_PER_LINE;
    timers = number;
    if (!isReported) {
      err.println(total == 0 ? "%,d".formatted(number) : "%,d of %,d".formatted(number, total));
      err.flush();
    }
  }

  private void count(byte[] bytes, int from, int length) {
    for (int i = from; i < from + length; i++) {
      if (bytes[i] == '\n') {
        reached(timers + 1);
      }
    }
  }

  /** {@return a stream that counts the lines written to it} */
  OutputStream counting(OutputStream out) {
    return new CountingOutput(out);
  }

  private final class CountingOutput extends FilterOutputStream {
    CountingOutput(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      out.write(bytes, from, length);
      count(bytes, from, length);
    }
  }
}
