// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;

/** Finds the server binaries of the system. */
final class Binaries {
  private static final Path POSTGRESQL = Path.of("/usr/lib/postgresql");

  private Binaries() {}

  /** Finds a binary on the path, or where Debian installs servers. */
  static Path find(String name) {
    List<Path> places = new ArrayList<>();
    for (String place : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      places.add(Path.of(place));
    }
    places.add(Path.of("/usr/sbin"));
    places.addAll(postgresql());
    for (Path place : places) {
      Path program = place.resolve(name);
      if (Files.isExecutable(program) && !Files.isDirectory(program)) {
        return program;
      }
    }
    throw new NoSuchElementException("there is no " + name + " on this machine");
  }

  /** Returns the directories of all installed versions, newest first. */
  private static List<Path> postgresql() {
    List<Path> versions = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(POSTGRESQL, "[0-9]*")) {
      found.forEach(versions::add);
    } catch (IOException e) {
      return List.of();
    }
    versions.sort((a, b) -> Integer.compare(number(b), number(a)));
    return versions.stream().map(version -> version.resolve("bin")).toList();
  }

  private static int number(Path version) {
    String digits = version.getFileName().toString().replaceFirst("\\D.*", "");
    return Integer.parseInt(digits);
  }
}
