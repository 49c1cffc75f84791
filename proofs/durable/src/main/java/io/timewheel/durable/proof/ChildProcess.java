// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A JVM that runs one of the classes of this package, as its parent sees it. */
final class ChildProcess {
  /**
   * The timeout as a number of waits of one second each, so that time in which the machine was
   * suspended does not count.
   */
  private static final int TIMEOUT_SECONDS = 300;

  private static final String END = "";

  private final Process process;
  private final Thread listener;
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
  private volatile @Nullable String last;

  private ChildProcess(Process process) {
    this.process = process;
    listener = new Thread(this::listen, "child-" + process.pid());
    listener.setDaemon(true);
    listener.start();
  }

  /**
   * Starts a child.
   *
   * @param errors the file to which its standard error is appended
   */
  static ChildProcess start(Class<?> main, Path errors, List<String> jvm, String... args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // A process that is killed after a second must start quickly, and leave no files behind.
    command.addAll(
        List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto"));
    command.addAll(NativeLibrary.jvmArguments());
    command.addAll(jvm);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(args));
    return new ChildProcess(
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(errors.toFile()))
            .start());
  }

  private void listen() {
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        last = line;
        said.add(line);
      }
    } catch (IOException e) {
      // It was killed.
    }
    said.add(END);
  }

  /**
   * Waits until the child prints a line with this beginning. Returns null if it ends without one.
   */
  @Nullable String await(String beginning) throws InterruptedException {
    int waits = 0;
    while (true) {
      String line = said.poll(1, TimeUnit.SECONDS);
      if (line == null) {
        if (++waits > TIMEOUT_SECONDS) {
          throw new IllegalStateException("the child has not printed " + beginning);
        }
      } else if (line.startsWith(beginning) && !line.equals(END)) {
        return line;
      } else if (line.equals(END)) {
        said.add(END);
        return null;
      }
    }
  }

  /** {@return the last line of the child; null if there is none} */
  @Nullable String last() {
    return last;
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Ends the standard input of the child. */
  void endInput() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The child has already ended.
    }
  }

  /** Kills the child by a signal that it cannot handle, and returns when it has ended. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
    listener.join();
  }

  /** Waits until the child ends by itself. */
  int awaitExit() throws InterruptedException {
    for (int waits = 0; !process.waitFor(1, TimeUnit.SECONDS); ) {
      if (++waits > TIMEOUT_SECONDS) {
        kill();
        throw new IllegalStateException("the child has not ended");
      }
    }
    return process.exitValue();
  }

  /** Suspends the child, like a machine. */
  void suspend() {
    signal("-STOP");
  }

  void goOn() {
    signal("-CONT");
  }

  private void signal(String name) {
    try {
      new ProcessBuilder("kill", name, Long.toString(process.pid())).start().waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
