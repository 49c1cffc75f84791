// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** Makes jars of compiled classes. */
final class Jars {
  private Jars() {}

  /** Writes a class and the classes nested in it. */
  static void of(Path jar, Path classes, Class<?> type) throws IOException {
    String name = type.getName().replace('.', '/');
    Path directory = classes.resolve(name).getParent();
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.list(directory)) {
      for (Path file : files.sorted().toList()) {
        String entry = classes.relativize(file).toString().replace('\\', '/');
        if (entry.equals(name + ".class") || entry.startsWith(name + "$")) {
          out.putNextEntry(new JarEntry(entry));
          out.write(Files.readAllBytes(file));
          out.closeEntry();
        }
      }
    }
  }
}
