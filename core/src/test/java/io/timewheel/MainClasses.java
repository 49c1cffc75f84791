// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.net.URISyntaxException;
import java.nio.file.Path;

/** The compiled main sources of this module, without its tests. */
final class MainClasses {

  private MainClasses() {}

  /**
   * Returns the directory of the classes. Finds it through a class, because it does not depend on
   * the working directory.
   */
  static Path directory() {
    try {
      Class<?> witness = Class.forName("io.timewheel.package-info");
      return Path.of(witness.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (ClassNotFoundException | URISyntaxException e) {
      throw new AssertionError("The main classes are not on the class path", e);
    }
  }

  static JavaClasses imported() {
    return Imported.CLASSES;
  }

  /** Imports once for all tests. */
  private static final class Imported {
    static final JavaClasses CLASSES = new ClassFileImporter().importPath(directory());
  }
}
