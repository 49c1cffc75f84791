// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaModifier.PUBLIC;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Verifies the dependencies of packages, and the public API. */
class ArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.timewheel.durable");

  private static final String ROOT = "io.timewheel.durable";

  /** Bottom up, as the documentation of the root package lists them. */
  private static final List<String> PACKAGES =
      Stream.of(
              ".model",
              ".spi.record",
              ".spi",
              ".spi.batch",
              ".spi.format",
              ".spi.maintenance",
              ".internal.health",
              ".internal.time",
              ".internal.commit",
              ".internal.due",
              ".internal.attempt",
              ".internal.queue",
              ".internal.dispatch",
              ".internal.maintenance",
              ".internal.memory",
              ".internal.engine",
              "")
          .map(name -> ROOT + name)
          .toList();

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
  void commitUsesNoShardsAndDueUsesNoHandlers() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".internal.commit")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            ROOT + ".internal.due", ROOT + ".internal.attempt", ROOT + ".internal.queue")
        .check(MAIN);
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".internal.due")
        .should()
        .dependOnClassesThat()
        .haveSimpleName("Handler")
        .check(MAIN);
  }

  /** Users could not name an internal class in a public signature. */
  @Test
  void thePublicApiNamesNoInternalClass() {
    for (JavaClass type : MAIN) {
      if (!type.getPackageName().contains(".internal") && type.getModifiers().contains(PUBLIC)) {
        type.getMembers().stream()
            .filter(member -> isOfApi(member.getModifiers()))
            .forEach(
                member ->
                    assertThat(member.getAllInvolvedRawTypes())
                        .as(member.getFullName())
                        .noneMatch(raw -> raw.getPackageName().contains(".internal")));
      }
    }
  }

  private static boolean isOfApi(Set<JavaModifier> modifiers) {
    return (modifiers.contains(PUBLIC) || modifiers.contains(JavaModifier.PROTECTED))
        && !modifiers.contains(JavaModifier.SYNTHETIC);
  }

  @Test
  void coreIsUsedByItsPublicApiOnly() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.timewheel").and(DescribedPredicate.not(modifier(PUBLIC))))
        .orShould()
        .dependOnClassesThat(resideInAPackage("io.timewheel.concurrent.."))
        .orShould()
        .dependOnClassesThat(resideInAPackage("io.timewheel.pattern.."))
        .check(MAIN);
  }

  @Test
  void nothingElseIsNeeded() {
    classes()
        .should()
        .onlyDependOnClassesThat(
            resideInAPackage("java..")
                .or(resideInAPackage("io.timewheel.."))
                .or(resideInAPackage("org.jspecify.."))
                .or(resideInAPackage("jdk.jfr..")))
        .check(MAIN);
  }

  @Test
  void oneClassUsesFlightRecorder() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.internal\\.health\\.JfrEvents(\\$.*)?")
        .should()
        .dependOnClassesThat(resideInAPackage("jdk.jfr.."))
        .check(MAIN);
  }

  @Test
  void noOtherClassReadsAClock() {
    noClasses()
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(Instant.class, "now")
        .orShould()
        .callMethod(Clock.class, "systemUTC")
        .check(MAIN);
  }

  /** Detects classes that become public by accident. */
  @Test
  void thePublicClassesAreThese() {
    assertThat(publicClasses(ROOT))
        .containsExactly(
            "AsyncDurableTimer",
            "BatchResult",
            "DirectTimers",
            "DurableStats",
            "DurableTimer",
            "DurableTimerBuilder",
            "InMemoryTimerStore",
            "LagHistogram",
            "LeaseChange",
            "NamespaceRef",
            "PayloadCodec",
            "QueueFiring",
            "QueueInfo",
            "QueueRef",
            "ScheduleResult",
            "TimerCommands",
            "TimerFilter",
            "TimerInfo",
            "TimerList",
            "TimerRef",
            "TimerSelection",
            "TimerSpec");
    assertThat(publicClasses(ROOT + ".model"))
        .containsExactly(
            "AsyncHandler",
            "Attempt",
            "CancelResult",
            "DurableTimerException",
            "FireId",
            "Firing",
            "Handler",
            "HandlerSlots",
            "InvalidArgumentException",
            "LeaseResult",
            "MissedRuns",
            "RequestId",
            "RetryPolicy",
            "StackTraces",
            "TimerClosedException",
            "TimerKey",
            "TimerState",
            "TypedHandler",
            "UnreadablePayloadException",
            "VerbResult");
  }

  private static Set<String> publicClasses(String name) {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : MAIN) {
      if (type.isTopLevelClass()
          && type.getPackageName().equals(name)
          && type.getModifiers().contains(PUBLIC)) {
        found.add(type.getSimpleName());
      }
    }
    return found;
  }
}
