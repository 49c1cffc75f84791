// SPDX-License-Identifier: Apache-2.0
package io.timewheel.concurrent;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@code invokeAll} and {@code invokeAny}, with and without a timeout, as in the JDK's own tests.
 */
@ParameterizedClass
@EnumSource
@Tag("promise-31")
class ScheduledExecutorInvokeTest {
  private final ScheduledExecutorService executor;
  private final CountDownLatch never = new CountDownLatch(1);
  private final Callable<String> good = () -> "good";
  private final ArithmeticException thrown = new ArithmeticException();
  private final Callable<String> bad =
      () -> {
        throw thrown;
      };
  private final Callable<String> stuck =
      () -> {
        never.await();
        return "stuck";
      };

  ScheduledExecutorInvokeTest(Implementation implementation) {
    executor = implementation.create();
  }

  @AfterEach
  void end() throws InterruptedException {
    never.countDown();
    executor.shutdownNow();
    assertThat(executor.awaitTermination(1, HOURS)).isTrue();
  }

  @Test
  void invokeAllReturnsAFutureForEachInOrder() throws Exception {
    List<Future<String>> untimed = executor.invokeAll(List.of(good, bad, good));
    assertGoodBadGood(untimed);
    assertGoodBadGood(executor.invokeAll(List.of(good, bad, good), 1, HOURS));
  }

  private void assertGoodBadGood(List<Future<String>> futures) throws Exception {
    assertThat(futures).hasSize(3).allMatch(Future::isDone);
    assertThat(futures.get(0).get()).isEqualTo("good");
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(futures.get(1)::get)
        .withCause(thrown);
    assertThat(futures.get(2).get()).isEqualTo("good");
  }

  @Test
  void invokeAllOfNothingReturnsNothing() throws Exception {
    assertThat(executor.invokeAll(new ArrayList<Callable<String>>())).isEmpty();
    assertThat(executor.invokeAll(new ArrayList<Callable<String>>(), 1, HOURS)).isEmpty();
  }

  @Test
  void invokeAllCancelsTasksNotDoneInTime() throws Exception {
    List<Future<String>> futures = executor.invokeAll(List.of(stuck, stuck), 1, MILLISECONDS);
    assertThat(futures).hasSize(2).allMatch(Future::isDone).allMatch(Future::isCancelled);
  }

  @Test
  void invokeAnyReturnsASuccessfulResult() throws Exception {
    assertThat(executor.invokeAny(List.of(bad, good, bad))).isEqualTo("good");
    assertThat(executor.invokeAny(List.of(stuck, good))).isEqualTo("good");
    assertThat(executor.invokeAny(List.of(bad, good, bad), 1, HOURS)).isEqualTo("good");
  }

  @Test
  void invokeAnyThrowsIfAllFail() {
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> executor.invokeAny(List.of(bad, bad)))
        .withCause(thrown);
    assertThatExceptionOfType(ExecutionException.class)
        .isThrownBy(() -> executor.invokeAny(List.of(bad, bad), 1, HOURS))
        .withCause(thrown);
  }

  @Test
  void invokeAnyThrowsIfNoneIsDoneInTime() {
    assertThatExceptionOfType(TimeoutException.class)
        .isThrownBy(() -> executor.invokeAny(List.of(stuck), 1, MILLISECONDS));
  }

  @Test
  void invokeAnyOfNothingIsRefused() {
    List<Callable<String>> nothing = List.of();
    assertThatIllegalArgumentException().isThrownBy(() -> executor.invokeAny(nothing));
    assertThatIllegalArgumentException().isThrownBy(() -> executor.invokeAny(nothing, 1, HOURS));
  }

  @Test
  void refusesNulls() {
    List<Callable<String>> withNull = Arrays.asList(good, null);
    List<Callable<String>> one = List.of(good);
    TimeUnit noUnit = null;
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(null));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(null, 1, HOURS));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(one, 1, noUnit));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(withNull));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAll(withNull, 1, HOURS));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(null));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(null, 1, HOURS));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(one, 1, noUnit));
    List<Callable<String>> stuckAndNull = Arrays.asList(stuck, null);
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(stuckAndNull));
    assertThatNullPointerException().isThrownBy(() -> executor.invokeAny(stuckAndNull, 1, HOURS));
  }
}
