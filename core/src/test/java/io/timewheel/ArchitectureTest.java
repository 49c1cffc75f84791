// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies the structure of core: its public types, its dependencies, and access to the clock. */
class ArchitectureTest {

  /** The types that users may refer to. All other types are internal. */
  private static final Set<String> PUBLIC_API =
      Set.of(
          "Backoff",
          "Coalescer",
          "Deadline",
          "Expirations",
          "FutureTimeouts",
          "HashedWheelTimer",
          "Heartbeats",
          "HierarchicalWheelTimer",
          "Leases",
          "PatternErrorHandler",
          "PolledTimer",
          "RejectionPolicy",
          "Requests",
          "Retries",
          "TaskErrorHandler",
          "TimeSource",
          "Timeout",
          "Timer",
          "TimerBuilder",
          "TimerListener",
          "TimerStats",
          "TimerTask",
          "WheelScheduledExecutor",
          "WheelTimer");

  private static final String LOCK = "io.timewheel.StripeLock";

  /** The order in which to read {@code io.timewheel}, as in its package description. */
  private static final List<Set<String>> LAYERS =
      List.of(
          Set.of(
              "RejectionPolicy",
              "TaskErrorHandler",
              "TimeSource",
              "Timeout",
              "Timer",
              "TimerListener",
              "TimerStats",
              "TimerTask"),
          Set.of("Ticks"),
          Set.of("Padding", "Node", "Slot", "Wheel", "HashedWheel", "HierarchicalWheel"),
          Set.of("Clock", "Log", "WakeUp"),
          Set.of(
              "Callbacks",
              "Counters",
              "Drained",
              "Engine",
              "Events",
              "GuardedListener",
              "Homes",
              "JfrEvents",
              "PendingLimit",
              "Stripe",
              "StripeLock",
              "TimerBuilder",
              "WheelTimeout"),
          Set.of("Worker"),
          Set.of("WheelTimer", "HashedWheelTimer", "HierarchicalWheelTimer", "PolledTimer"));

  private static final JavaClasses MAIN = MainClasses.imported();

  @Test
  void internalTypesArePackagePrivate() {
    classes()
        .that()
        .resideInAPackage("io.timewheel..")
        .and()
        .areTopLevelClasses()
        .and(DescribedPredicate.not(publicApi()))
        .should()
        .bePackagePrivate()
        .allowEmptyShould(true)
        .check(MAIN);
  }

  @Test
  void publicSignaturesNameOnlyPublicTypes() {
    ArchCondition<JavaCodeUnit> nameOnlyPublicTypes =
        ArchCondition.from(
            DescribedPredicate.describe(
                "name only public types",
                unit -> unit.getAllInvolvedRawTypes().stream().allMatch(this::isVisible)));
    codeUnits()
        .that(DescribedPredicate.describe("users can call", this::isVisible))
        .should(nameOnlyPublicTypes)
        .allowEmptyShould(true)
        .check(MAIN);
  }

  /** A class may refer to its own and earlier layers, but not to later ones. */
  @Test
  void classesDependOnlyOnEarlierLayers() {
    List<String> wrong = new ArrayList<>();
    for (JavaClass type : MAIN) {
      if (isMechanism(type)) {
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
          JavaClass target = dependency.getTargetClass().getBaseComponentType();
          if (isMechanism(target) && layer(type) < layer(target)) {
            wrong.add(dependency.getDescription());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static boolean isMechanism(JavaClass type) {
    return type.getPackageName().equals("io.timewheel")
        && !outermost(type).getSimpleName().equals("package-info");
  }

  private static int layer(JavaClass type) {
    String name = outermost(type).getSimpleName();
    for (int layer = 0; layer < LAYERS.size(); layer++) {
      if (LAYERS.get(layer).contains(name)) {
        return layer;
      }
    }
    throw new AssertionError(name + " is in no layer");
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }

  @Test
  void timersDoNotDependOnExecutorsAndPatterns() {
    noClasses()
        .that()
        .resideInAPackage("io.timewheel")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.timewheel.concurrent..", "io.timewheel.pattern..")
        .check(MAIN);
  }

  /** The patterns accept a deadline that a caller passes down. */
  @ParameterizedTest
  @CsvSource({
    "io.timewheel.concurrent, ''",
    "io.timewheel.pattern, io.timewheel.concurrent.Deadline"
  })
  void executorsAndPatternsDependOnTimersOnly(String builtOnThem, String taken) {
    classes()
        .that()
        .resideInAPackage(builtOnThem)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage("java..", "org.jspecify..", "io.timewheel", builtOnThem)
                .or(name(taken)))
        .check(MAIN);
  }

  @Test
  void onlyTimeSourcesReadTheClockOrWait() {
    noClasses()
        .that(DescribedPredicate.not(assignableTo("io.timewheel.TimeSource")))
        .should()
        .accessTargetWhere(asksForTheTime())
        .allowEmptyShould(true)
        .check(MAIN);
  }

  /** Under load, a yield costs a time slice, which a busy timer thread cannot spare. */
  @Test
  void onlyThreadsThatWaitForALockYield() {
    noClasses()
        .should()
        .accessTargetWhere(
            DescribedPredicate.describe(
                "yields, except to wait for a lock",
                access ->
                    access.getTargetOwner().isEquivalentTo(Thread.class)
                        && access.getTarget().getName().equals("yield")
                        && !access.getOriginOwner().getFullName().equals(LOCK)))
        .check(MAIN);
  }

  @Test
  void coreLogsThroughTheSystemLoggerOnly() {
    noClasses().should().dependOnClassesThat().resideInAPackage("java.util.logging..").check(MAIN);
    noClasses().should().accessField(System.class, "out").check(MAIN);
    noClasses().should().accessField(System.class, "err").check(MAIN);
  }

  @Test
  void coreUsesNoInternalsOfTheJdk() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("sun..", "com.sun..", "jdk.internal..", "jdk.jfr.internal..")
        .check(MAIN);
  }

  @Test
  void coreUsesNoNetworkNoFilesAndNoReflection() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("java.net..", "java.nio..", "java.lang.reflect..")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching("java\\.io\\.(File|RandomAccess|Object(In|Out)put).*")
        .check(MAIN);
  }

  private boolean isVisible(JavaCodeUnit unit) {
    return isPublicOrProtected(unit.getModifiers()) && isVisible(unit.getOwner());
  }

  private boolean isVisible(JavaClass type) {
    JavaClass element = type.getBaseComponentType();
    return element.isPrimitive()
        || (isPublicOrProtected(element.getModifiers())
            && element.getEnclosingClass().map(this::isVisible).orElse(true));
  }

  private static boolean isPublicOrProtected(Set<JavaModifier> modifiers) {
    return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
  }

  private static DescribedPredicate<JavaClass> publicApi() {
    return DescribedPredicate.describe(
        "part of the public API", type -> PUBLIC_API.contains(type.getSimpleName()));
  }

  private static DescribedPredicate<JavaAccess<?>> asksForTheTime() {
    return DescribedPredicate.describe(
        "reads the time or waits for it", ArchitectureTest::asksForTheTime);
  }

  private static boolean asksForTheTime(JavaAccess<?> access) {
    String name = access.getTarget().getName();
    return switch (access.getTargetOwner().getFullName()) {
      case "java.lang.System" -> name.equals("nanoTime") || name.equals("currentTimeMillis");
      case "java.lang.Thread", "java.util.concurrent.TimeUnit" -> name.equals("sleep");
      // The lock of a stripe sleeps when its holder has lost the processor; it does not read the
      // time.
      case "java.util.concurrent.locks.LockSupport" ->
          name.startsWith("park") && !access.getOriginOwner().getFullName().equals(LOCK);
      case "java.time.Clock" -> name.startsWith("system") || name.startsWith("tick");
      case "java.util.Date" -> name.equals("<init>");
      case "java.time.Instant",
          "java.time.LocalDate",
          "java.time.LocalDateTime",
          "java.time.LocalTime",
          "java.time.OffsetDateTime",
          "java.time.ZonedDateTime" ->
          name.equals("now");
      default -> false;
    };
  }
}
