// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.jdbc;

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

/** Verifies the order of the packages: each depends only on those before it. */
class ArchitectureTest {
  private static final String ROOT = "io.timewheel.durable.jdbc";

  /** The packages, bottom up, as in the documentation of the root package. */
  private static final List<String> PACKAGES =
      Stream.of(
              ".internal.sql",
              ".internal.rows",
              ".internal.server",
              ".internal.transaction",
              ".internal.schema",
              ".internal.read",
              ".internal.notifications",
              ".internal.write",
              ".internal.ownership",
              ".internal.maintenance",
              ".internal.handler",
              ".internal.postgresql",
              ".internal.mariadb",
              "")
          .map(name -> ROOT + name)
          .toList();

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(ROOT);

  @Test
  void theOrderContainsEveryPackage() {
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
  void onlyTheBuilderRefersToAServer() {
    noClasses()
        .that()
        .resideOutsideOfPackages(ROOT + ".internal.postgresql", ROOT + ".internal.mariadb")
        .and()
        .doNotBelongToAnyOf(JdbcTimerStore.class)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(ROOT + ".internal.postgresql", ROOT + ".internal.mariadb")
        .check(MAIN);
  }

  @Test
  void noServerPackageDependsOnAnother() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".internal.mariadb")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(ROOT + ".internal.postgresql")
        .check(MAIN);
  }
}
