// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.proof;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A file system that is mounted for a test, and unmounted after it. */
final class Mount implements AutoCloseable {
  private final Path point;

  private Mount(Path point) {
    this.point = point;
  }

  /** Thrown if the machine does not allow this process to mount. */
  static final class NotAllowedException extends Exception {
    private static final long serialVersionUID = 1;

    NotAllowedException(String message) {
      super(message);
    }
  }

  /** Mounts a memory file system of a given size. */
  static Mount memory(Path point, int megabytes) throws IOException, NotAllowedException {
    Files.createDirectories(point);
    command("mount", "-t", "tmpfs", "-o", "size=" + megabytes + "m", "tmpfs", point.toString());
    return new Mount(point);
  }

  /** Mounts a directory a second time, read-only. */
  static Mount readOnly(Path directory, Path point) throws IOException, NotAllowedException {
    Files.createDirectories(point);
    command("mount", "--bind", directory.toString(), point.toString());
    Mount mount = new Mount(point);
    try {
      command("mount", "-o", "remount,ro,bind", point.toString());
      return mount;
    } catch (NotAllowedException e) {
      mount.close();
      throw e;
    }
  }

  Path point() {
    return point;
  }

  private static void command(String... words) throws IOException, NotAllowedException {
    Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean done;
    try {
      done = process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      done = false;
    }
    if (!done) {
      throw new NotAllowedException(String.join(" ", List.of(words)) + ": " + said.strip());
    }
  }

  @Override
  public void close() throws IOException {
    try {
      command("umount", point.toString());
    } catch (NotAllowedException e) {
      throw new IOException(e);
    }
  }
}
