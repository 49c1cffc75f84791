// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Starts processes without privileges that never outlive this JVM.
 *
 * <p>Linux sends a process its death signal when the <em>thread</em> that started it ends. So one
 * thread, which lives as long as the JVM, starts all of them.
 */
final class Processes {
  private static final int TAIL_LINES = 20;
  private static final Set<Process> STARTED = ConcurrentHashMap.newKeySet();
  private static final ExecutorService STARTER =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "database-servers");
            thread.setDaemon(true);
            return thread;
          });

  private Processes() {}

  /** Runs a command, and waits for its end. */
  static void run(Path log, List<String> command) throws IOException, InterruptedException {
    int status = start(log, "KILL", command).waitFor();
    if (status != 0) {
      throw new IllegalStateException(command.get(0) + " ended with " + status + ": " + tail(log));
    }
  }

  /**
   * Starts a command.
   *
   * @param log the file to which its output is appended
   * @param deathSignal the signal that the process gets when this JVM dies
   */
  static Process start(Path log, String deathSignal, List<String> command)
      throws IOException, InterruptedException {
    List<String> whole = new ArrayList<>();
    whole.addAll(List.of(Binaries.find("setpriv").toString(), "--pdeathsig", deathSignal));
    if (Directories.IS_ROOT) {
      // Database servers refuse to run as root.
      whole.addAll(List.of("--reuid", Directories.UNPRIVILEGED));
      whole.addAll(List.of("--regid", Directories.UNPRIVILEGED_GROUP, "--clear-groups"));
    }
    whole.addAll(command);
    ProcessBuilder builder =
        new ProcessBuilder(whole)
            .directory(Directories.parent().toFile())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    // Environment variables must not configure a server. Its messages are in English.
    builder.environment().keySet().removeIf(name -> name.matches("(PG|MYSQL|MARIADB|LC_|LANG).*"));
    Callable<Process> start = builder::start;
    try {
      Process process = STARTER.submit(start).get();
      STARTED.removeIf(other -> !other.isAlive());
      STARTED.add(process);
      return process;
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }

  /** Sends a signal. */
  static void signal(String name, List<ProcessHandle> processes) {
    List<String> command = new ArrayList<>(List.of("kill", "-" + name));
    processes.forEach(process -> command.add(Long.toString(process.pid())));
    try {
      new ProcessBuilder(command).start().waitFor();
    } catch (IOException e) {
      throw new IllegalStateException("cannot send a signal", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Kills a process and all its descendants; returns when they have ended.
   *
   * <p>This method does not use {@link ProcessHandle#onExit}, which needs a thread of the common
   * pool. A test may block all of these threads with calls that wait for this server.
   */
  static void kill(Process process) {
    List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
    process.destroyForcibly();
    all.forEach(ProcessHandle::destroyForcibly);
    try {
      process.waitFor();
      while (all.stream().anyMatch(ProcessHandle::isAlive)) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static void killAll() {
    STARTED.forEach(Processes::kill);
  }

  /** {@return the last lines of a log} */
  static String tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join(
        System.lineSeparator(),
        lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
  }
}
