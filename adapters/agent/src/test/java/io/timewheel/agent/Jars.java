// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.CRC32;

/** Makes a jar of compiled classes and of other jars. */
final class Jars {
  private final Map<String, byte[]> entries = new TreeMap<>();
  private final Manifest manifest = new Manifest();

  /** Returns the jar or the directory that contains a class. */
  static Path of(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  Jars() {
    attribute(Attributes.Name.MANIFEST_VERSION.toString(), "1.0");
  }

  Jars attribute(String name, String value) {
    manifest.getMainAttributes().putValue(name, value);
    return this;
  }

  /** Adds a class without its nested classes. The directory is empty or ends with a slash. */
  Jars classFile(String directory, Class<?> type) throws IOException {
    String name = type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getClassLoader().getResourceAsStream(name)) {
      entries.put(directory + name, in.readAllBytes());
    }
    if (!directory.isEmpty()) {
      entries.put(directory, new byte[0]);
    }
    return this;
  }

  /** Adds the jar of a class as a file. */
  Jars jarOf(String name, Class<?> type) throws IOException {
    entries.put(name, Files.readAllBytes(of(type)));
    return this;
  }

  /** Adds the content of a jar. */
  Jars contentOf(Path jar) throws IOException {
    try (JarInputStream in = new JarInputStream(Files.newInputStream(jar))) {
      for (JarEntry entry = in.getNextJarEntry(); entry != null; entry = in.getNextJarEntry()) {
        entries.put(entry.getName(), in.readAllBytes());
      }
    }
    return this;
  }

  /** Writes the jar without compression, as Spring Boot requires of a jar in a jar. */
  Path write(Path jar) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.setMethod(JarOutputStream.STORED);
      for (Map.Entry<String, byte[]> each : entries.entrySet()) {
        JarEntry entry = new JarEntry(each.getKey());
        CRC32 checksum = new CRC32();
        checksum.update(each.getValue());
        entry.setCrc(checksum.getValue());
        entry.setSize(each.getValue().length);
        out.putNextEntry(entry);
        out.write(each.getValue());
        out.closeEntry();
      }
    }
    return jar;
  }
}
