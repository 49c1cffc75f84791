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
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The shape of durable timers: what users name, what stores name, and what nobody may. */
class ArchitectureTest {
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.timewheel.durable");

  /** Where the two sides meet: these are made of the mechanism. */
  private static final Set<String> DOORS =
      Set.of("DurableTimer", "DurableTimerBuilder", "InMemoryTimerStore");

  /** Values of the package that are not for users: they know no engine, store or thread. */
  private static final Set<String> ARITHMETIC =
      Set.of("CronDays", "CronField", "CronParser", "Decision", "EpochMillis", "Limits");

  private static String outermost(JavaClass type) {
    String name = type.getName().substring(type.getPackageName().length() + 1);
    int dollar = name.indexOf('$');
    return dollar < 0 ? name : name.substring(0, dollar);
  }

  private static final DescribedPredicate<JavaClass> MECHANISM =
      DescribedPredicate.describe(
          "the mechanism of the engine",
          type ->
              type.getPackageName().equals("io.timewheel.durable")
                  && !type.isArray()
                  && !ARITHMETIC.contains(outermost(type))
                  && (DOORS.contains(outermost(type))
                      || !MAIN.get("io.timewheel.durable." + outermost(type))
                          .getModifiers()
                          .contains(JavaModifier.PUBLIC)));

  @Test
  void whatUsersNameDoesNotKnowTheMechanism() {
    noClasses()
        .that(resideInAPackage("io.timewheel.durable").and(DescribedPredicate.not(MECHANISM)))
        .should()
        .dependOnClassesThat(MECHANISM)
        .check(MAIN);
  }

  @Test
  void theInterfaceOfStoresKnowsNoEngine() {
    noClasses()
        .that(resideInAPackage("io.timewheel.durable.spi"))
        .should()
        .dependOnClassesThat(MECHANISM)
        .orShould()
        .dependOnClassesThat(
            resideInAPackage("io.timewheel.durable").and(DescribedPredicate.not(modifier(PUBLIC))))
        .check(MAIN);
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
  void flightRecorderIsNamedInOnePlace() {
    noClasses()
        .that()
        .haveNameNotMatching("io\\.timewheel\\.durable\\.JfrEvents(\\$.*)?")
        .should()
        .dependOnClassesThat(resideInAPackage("jdk.jfr.."))
        .check(MAIN);
  }

  @Test
  void nothingReadsAClockByItself() {
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

  /** A class that becomes public by accident is noticed here. */
  @Test
  void thePublicClassesAreThese() {
    Set<String> found = new TreeSet<>();
    for (JavaClass type : MAIN) {
      if (type.isTopLevelClass()
          && type.getPackageName().equals("io.timewheel.durable")
          && type.getModifiers().contains(JavaModifier.PUBLIC)) {
        found.add(type.getSimpleName());
      }
    }
    assertThat(found)
        .containsExactly(
            "AsyncHandler",
            "Attempt",
            "BatchResult",
            "CancelResult",
            "Cron",
            "DurableStats",
            "DurableTimer",
            "DurableTimerBuilder",
            "DurableTimerException",
            "FireId",
            "Firing",
            "Handler",
            "InMemoryTimerStore",
            "LagHistogram",
            "LeaseResult",
            "MissedRuns",
            "PayloadCodec",
            "QueueFiring",
            "Recurrence",
            "RetryPolicy",
            "ScheduleResult",
            "TimerFilter",
            "TimerInfo",
            "TimerKey",
            "TimerList",
            "TimerSpec",
            "TimerState",
            "TypedHandler",
            "Verb",
            "VerbResult");
  }
}
