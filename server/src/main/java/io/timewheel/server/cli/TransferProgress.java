// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.cli;

import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
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

  /** {@return a stream that counts the lines read from it} */
  InputStream counting(InputStream in) {
    return new CountingInput(in);
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

  private final class CountingInput extends FilterInputStream {
    CountingInput(InputStream in) {
      super(in);
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws IOException {
      int read = in.read(bytes, from, length);
      count(bytes, from, Math.max(0, read));
      return read;
    }
  }
}
