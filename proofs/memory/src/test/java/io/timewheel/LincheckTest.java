// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.stream.Stream;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Options;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Verifies that the operations of a timer are linearizable, within the limits that {@link
 * LincheckTimers} describes. Lincheck generates programs of a few operations on two or three
 * threads. The model checker runs each program through many interleavings, switching threads at
 * every access to shared memory. Only it proves that generated sequences of operations agree with
 * one order; jcstress tests have chosen ones. The stress test runs a program many times without
 * control over the interleavings, and only with the profile lincheck-full.
 */
@Tag("proof")
class LincheckTest {

  /** The number of programs of each kind; the profile sets more. */
  private static final int PROGRAMS = Integer.getInteger("timewheel.lincheck.programs", 2);

  private static final int RUNS = Integer.getInteger("timewheel.lincheck.runs", 100);

  static Stream<Arguments> objects() {
    return Stream.of(
        Arguments.of(LincheckTimers.Running.class, LincheckSpecifications.Running.class, 2),
        Arguments.of(LincheckTimers.Running.class, LincheckSpecifications.Running.class, 3),
        Arguments.of(LincheckTimers.Closing.class, LincheckSpecifications.Closing.class, 3),
        Arguments.of(LincheckTimers.Draining.class, LincheckSpecifications.Draining.class, 3),
        Arguments.of(LincheckTimers.TwoStripes.class, LincheckSpecifications.Striped.class, 2),
        Arguments.of(LincheckTimers.TwoStripes.class, LincheckSpecifications.Striped.class, 3),
        Arguments.of(LincheckTimers.FourStripes.class, LincheckSpecifications.Striped.class, 3),
        Arguments.of(LincheckTimers.Limit.class, LincheckSpecifications.Limit.class, 3));
  }

  @ParameterizedTest
  @MethodSource("objects")
  void modelChecking(Class<?> object, Class<?> specification, int threads) {
    configure(new ModelCheckingOptions(), specification, threads).check(object);
  }

  @Tag("stress")
  @ParameterizedTest
  @MethodSource("objects")
  void stress(Class<?> object, Class<?> specification, int threads) {
    configure(new StressOptions(), specification, threads).check(object);
  }

  private static <O extends Options<O, ?>> O configure(
      O options, Class<?> specification, int threads) {
    return options
        .threads(threads)
        .actorsPerThread(threads == 2 ? 4 : 3)
        .actorsBefore(1)
        .actorsAfter(2)
        .iterations(PROGRAMS)
        .invocationsPerIteration(RUNS)
        .sequentialSpecification(specification);
  }
}
