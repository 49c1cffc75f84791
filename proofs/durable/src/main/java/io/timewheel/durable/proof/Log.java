// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Claim;
import io.timewheel.durable.testkit.History;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The calls, results and observations of children, one line each. A line is one write to a file
 * opened for appending. It is in the file when {@link #add} returns, even if the process is killed,
 * and the order of the lines is the order of the events. A kill may cut a line short. The next line
 * begins with a line break, so that it is complete.
 *
 * <pre>
 * I call namespace id kind dueAt content requestId     a call was made
 * A call namespace id answer version                   the call returned
 * B namespace id version scheduledAt attempt at content   a handler or consumer has started
 * C namespace id version scheduledAt                   its success is in the store
 * F namespace id version scheduledAt attempt           the same, with the number of the attempt
 * T namespace id version scheduledAt attempt           its effect is in the ledger
 * L namespace id state                                 the timer remains at the end
 * E                                                    the list of remaining timers is complete
 * V text                                               a violation
 * </pre>
 */
final class Log implements AutoCloseable {
  /** Ends each complete line. */
  static final String END = " .";

  /** Stands for a missing text. */
  static final String NONE = "-";

  private final FileChannel file;

  Log(Path path) throws IOException {
    file =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  }

  private void add(String line) {
    try {
      file.write(ByteBuffer.wrap(("\n" + line + END).getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Records that a call is about to be made.
   *
   * @param content identifies the request, and is the payload; 0 if unknown
   */
  void invoked(
      int call, TimerKey key, History.Call kind, long dueAtMillis, int content, String requestId) {
    add(line("I", call, text(key), kind, dueAtMillis, content, requestId));
  }

  void answered(int call, TimerKey key, History.Answer answer, long version) {
    add(line("A", call, text(key), answer, version));
  }

  void began(
      TimerKey key, long version, long scheduledAtMillis, int attempt, long atMillis, int content) {
    add(line("B", text(key), version, scheduledAtMillis, attempt, atMillis, content));
  }

  void completed(History.Completed done) {
    add(line("C", text(done.key()), done.version(), done.scheduledAtMillis()));
  }

  void finished(TimerKey key, Claim claim) {
    add(line("F", text(key), claim.version(), claim.scheduledAt(), claim.attempt()));
  }

  void effect(TimerKey key, long version, long scheduledAtMillis, int attempt) {
    add(line("T", text(key), version, scheduledAtMillis, attempt));
  }

  void left(TimerKey key, TimerState state) {
    add(line("L", text(key), state));
  }

  void end() {
    add("E");
  }

  void violation(String text) {
    add(line("V", text.replace('\n', ' ')));
  }

  private static String text(TimerKey key) {
    return key.namespace() + ' ' + key.id();
  }

  private static String line(Object... words) {
    StringBuilder line = new StringBuilder();
    for (Object word : words) {
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
