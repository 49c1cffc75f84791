// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Core needs the Java base module and nothing else. */
class DependenciesTest {

  @Test
  void moduleRequiresOnlyJavaBaseAtRunTime() {
    assertThat(descriptor().requires())
        .filteredOn(requires -> !requires.modifiers().contains(Requires.Modifier.STATIC))
        .extracting(Requires::name)
        .containsExactly("java.base");
  }

  @Test
  void moduleRequiresOnlyTheNullnessAnnotationsAtCompileTime() {
    assertThat(descriptor().requires())
        .filteredOn(requires -> requires.modifiers().contains(Requires.Modifier.STATIC))
        .extracting(Requires::name)
        .isSubsetOf("org.jspecify");
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
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage("java..", "io.timewheel..", "org.jspecify..")
        .check(MainClasses.imported());
  }

  private static ModuleDescriptor descriptor() {
    return ModuleFinder.of(MainClasses.directory())
        .find("io.timewheel.core")
        .orElseThrow(() -> new AssertionError("No module in " + MainClasses.directory()))
        .descriptor();
  }
}
