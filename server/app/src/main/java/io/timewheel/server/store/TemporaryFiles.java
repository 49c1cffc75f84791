// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.store;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/**
 * Files and directories that are deleted when this is closed, or when the process is told to stop.
 */
public final class TemporaryFiles implements AutoCloseable {
  private final List<Path> paths;
  private final Thread hook = new Thread(this::deleteAtEnd, "timewheel-temporary");

  public TemporaryFiles(Path... paths) {
    this.paths = List.of(paths);
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /** {@return the first file or directory} */
  public Path path() {
    return paths.get(0);
  }

  private void deleteAtEnd() {
    try {
      delete();
    } catch (IOException e) {
      // Another process still writes there. The next process deletes the copies.
    }
  }

  private synchronized void delete() throws IOException {
    for (Path path : paths) {
      delete(path);
    }
  }

  /** Deletes a file, or a directory with its content. An absent file is not an error. */
  public static void delete(Path path) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      try (DirectoryStream<Path> inner = Files.newDirectoryStream(path)) {
        for (Path each : inner) {
          delete(each);
        }
      } catch (DirectoryIteratorException e) {
        throw e.getCause();
      }
    }
    Files.deleteIfExists(path);
  }

  @Override
  public void close() throws IOException {
    delete();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // the shutdown hook is running already and finds no files
    }
  }
}
