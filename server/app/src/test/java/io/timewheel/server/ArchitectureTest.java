// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The order of the packages: each depends only on those before it. */
class ArchitectureTest {
  private static final String ROOT = "io.timewheel.server";

  /** Bottom-up, in the order of the root package's Javadoc. */
  private static final List<String> PACKAGES =
      Stream.of(
              ".settings",
              ".trace",
              ".webhook",
              ".problem",
              ".json",
              ".security",
              ".http",
              ".store",
              ".node",
              ".document",
              ".failure",
              ".event",
              ".resource",
              "",
              ".cli.serve",
              ".cli")
          .map(name -> ROOT + name)
          .toList();

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(ROOT);

  @Test
  void everyPackageHasAPlaceInTheOrder() {
    assertThat(MAIN.stream().map(JavaClass::getPackageName).collect(Collectors.toSet()))
        .containsExactlyInAnyOrderElementsOf(PACKAGES);
  }

  @Test
  void noPackageDependsOnALaterOne() {
    for (int i = 0; i < PACKAGES.size() - 1; i++) {
      noClasses()
          .that()
          .resideInAPackage(PACKAGES.get(i))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(PACKAGES.subList(i + 1, PACKAGES.size()).toArray(String[]::new))
          .check(MAIN);
    }
  }

  @Test
  void onlyHttpDependsOnTheHttpServer() {
    noClasses()
        .that()
        .resideInAnyPackage(
            Stream.of(
                    "settings",
                    "json",
                    "security",
                    "store",
                    "node",
                    "document",
                    "cli.serve",
                    "cli",
                    "")
                .map(name -> name.isEmpty() ? ROOT : ROOT + '.' + name)
                .toArray(String[]::new))
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.eclipse.jetty.server..")
        .check(MAIN);
  }

  @Test
  void onlyCommandsAndSettingsDependOnPicocli() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + ".cli..", ROOT + ".settings")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("picocli..")
        .check(MAIN);
  }
}
