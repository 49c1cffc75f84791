// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Core needs only the Java base module. It uses Flight Recorder if it is present. */
class DependenciesTest {
  private static final String EVENTS = "io\\.timewheel\\.(Jfr)?Events(\\$.*)?";

  @Test
  void moduleRequiresOnlyJavaBaseAtRunTime() {
    assertThat(descriptor().requires())
        .filteredOn(requires -> !requires.modifiers().contains(Requires.Modifier.STATIC))
        .extracting(Requires::name)
        .containsExactly("java.base");
  }

  @Test
  void moduleRequiresOnlyFlightRecorderAndTheNullnessAnnotationsAtCompileTime() {
    assertThat(descriptor().requires())
        .filteredOn(requires -> requires.modifiers().contains(Requires.Modifier.STATIC))
        .extracting(Requires::name)
        .isSubsetOf("jdk.jfr", "org.jspecify");
  }

  @Test
  void moduleUsesAndProvidesNoService() {
    assertThat(descriptor().uses()).isEmpty();
    assertThat(descriptor().provides()).isEmpty();
  }

  @Test
  void moduleOpensNothingAndExportsOnlyKnownPackages() {
    assertThat(descriptor().isOpen()).isFalse();
    assertThat(descriptor().opens()).isEmpty();
    assertThat(descriptor().exports())
        .allMatch(exports -> !exports.isQualified())
        .extracting(ModuleDescriptor.Exports::source)
        .isSubsetOf(Set.of("io.timewheel", "io.timewheel.concurrent", "io.timewheel.pattern"))
        .contains("io.timewheel", "io.timewheel.pattern");
  }

  @Test
  void classesDependOnJavaOnly() {
    classes()
        .that(areNotEvents())
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "io.timewheel..", "org.jspecify..")
        .check(MainClasses.imported());
  }

  /** So a JVM without the module loads no class that refers to it. */
  @Test
  void oneClassNamesFlightRecorderAndIsNamedByOne() {
    classes()
        .that(DescribedPredicate.not(areNotEvents()))
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "io.timewheel", "jdk.jfr", "org.jspecify..")
        .andShould()
        .onlyHaveDependentClassesThat(
            DescribedPredicate.describe(
                "are Events or its own", type -> type.getName().matches(EVENTS)))
        .check(MainClasses.imported());
  }

  private static DescribedPredicate<JavaClass> areNotEvents() {
    return DescribedPredicate.describe(
        "are not the events",
        type -> !type.getName().matches("io\\.timewheel\\.JfrEvents(\\$.*)?"));
  }

  private static ModuleDescriptor descriptor() {
    return ModuleFinder.of(MainClasses.directory())
        .find("io.timewheel.core")
        .orElseThrow(() -> new AssertionError("No module in " + MainClasses.directory()))
        .descriptor();
  }
}
