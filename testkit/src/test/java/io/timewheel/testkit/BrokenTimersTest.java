// SPDX-License-Identifier: Apache-2.0
package io.timewheel.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import io.timewheel.Timer;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/**
 * Verifies that the contract detects faults: each of its tests fails for at least one timer with
 * the fault that the test covers.
 */
class BrokenTimersTest {
  private static final List<Class<?>> FAULTS =
      List.of(
          FiringFaults.class,
          CancellingFaults.class,
          ReschedulingFaults.class,
          TaskFaults.class,
          CountingFaults.class,
          StoppingFaults.class,
          RacingFaults.class);

  @TestFactory
  Stream<DynamicNode> theContractFindsEveryFault() {
    return FAULTS.stream()
        .map(
            type ->
                dynamicContainer(
                    type.getSimpleName(),
                    faultsOf(type)
                        .map(fault -> dynamicTest(fault.getName(), () -> assertFound(fault)))));
  }

  @Test
  void everyTestOfTheContractDetectsAFault() {
    Set<String> finders = new TreeSet<>();
    for (Class<?> type : FAULTS) {
      faultsOf(type).forEach(fault -> finders.addAll(findersOf(fault)));
    }
    assertThat(finders).isEqualTo(testsOfTheContract());
  }

  private static Stream<Method> faultsOf(Class<?> type) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> method.isAnnotationPresent(FoundBy.class))
        .sorted(Comparator.comparing(Method::getName));
  }

  private static List<String> findersOf(Method fault) {
    return List.of(fault.getAnnotation(FoundBy.class).value());
  }

  private static Set<String> testsOfTheContract() {
    return Arrays.stream(TimerContract.class.getMethods())
        .filter(method -> method.isAnnotationPresent(Test.class))
        .map(Method::getName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static void assertFound(Method fault) {
    List<String> finders = findersOf(fault);
    BrokenTimer.fault = fault;
    Set<String> failed =
        EngineTestKit.engine("junit-jupiter")
            .selectors(
                finders.stream()
                    .map(name -> selectMethod(BrokenTimer.class, name))
                    .toArray(DiscoverySelector[]::new))
            .execute()
            .testEvents()
            .failed()
            .stream()
            .map(Event::getTestDescriptor)
            .map(descriptor -> descriptor.getDisplayName().replace("()", ""))
            .collect(Collectors.toSet());
    assertThat(failed).as(fault.getName()).containsExactlyInAnyOrderElementsOf(finders);
  }

  /** The contract for the current broken timer. JUnit does not run this class by itself. */
  static class BrokenTimer extends TimerContract {
    static volatile Method fault;

    private final ManualTimeSource clock = new ManualTimeSource();
    private final List<NaiveTimer> timers = new ArrayList<>();

    @Override
    protected Timer newTimer(TimerSettings settings) {
      try {
        NaiveTimer timer = (NaiveTimer) fault.invoke(null, settings, clock);
        timers.add(timer);
        return timer;
      } catch (ReflectiveOperationException e) {
        throw new LinkageError("cannot make " + fault, e);
      }
    }

    @Override
    protected void advance(Duration duration) {
      clock.advanceBy(duration);
      timers.forEach(NaiveTimer::runDue);
    }
  }
}
