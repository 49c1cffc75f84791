// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.PayloadCodec;
import io.timewheel.durable.jdbc.TransactionFiring;
import io.timewheel.durable.model.Firing;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;

/**
 * Verifies that the application does not start if a handler is invalid, and that the error names
 * the fault and the expectation.
 */
class OnTimerRefusalTest {
  private final ApplicationContextRunner empty =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  TimewheelAutoConfiguration.class, TimewheelDurableAutoConfiguration.class));

  private final ApplicationContextRunner runner =
      empty
          .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create)
          .withBean(PayloadCodec.class, Unused::new);

  private static void refused(
      ApplicationContextRunner runner, Class<?> bean, String... messageParts) {
    runner
        .withBean(bean)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("@OnTimer(\"")
                    .hasMessageContainingAll(messageParts));
  }

  @Test
  void invalidParameters() {
    refused(runner, TwoPayloads.class, "TwoPayloads.on: its parameters (expected: a Firing, a pa");
    refused(runner, TwoFirings.class, "TwoFirings.on: its parameters (expected: a Firing, a payl");
    refused(runner, Generic.class, "its payload is a java.util.List<java.lang.String> (expected:");
    refused(runner, Primitive.class, "its payload is a int (expected: a class without parameters");
  }

  @Test
  void attemptsThatContinueAfterTheMethodReturns() {
    refused(runner, Returning.class, "it returns boolean (expected: void");
    refused(runner, Asynchronous.class, "it is @Async (expected: a synchronous method");
  }

  @Test
  void duplicateName() {
    refused(runner, Twins.class, "so is @OnTimer(\"twin\") on ", "(expected: each name once)");
    refused(
        runner.withBean(
            DurableTimerCustomizer.class, () -> builder -> builder.handler("mine", firing -> {})),
        Mine.class,
        "handler: mine (expected: each name once)");
  }

  @Test
  void invalidSettings() {
    refused(runner, Timeless.class, "timeLimit soon (expected: a duration, such as 30s)");
    refused(runner, Limitless.class, "limit: 0 (expected: at least 1)");
    refused(runner, Nameless.class, "handler: 0 bytes (expected: 1 to 256)");
  }

  @Test
  void aMethodThatTheProxyOfItsBeanDoesNotHave() {
    refused(
        runner.withUserConfiguration(OnTimerTest.Advice.class),
        Hidden.class,
        "Hidden.on: ",
        "(expected: a method that the proxy of the bean has)");
  }

  @Test
  void exactlyOnceWithoutADatabase(@TempDir Path directory) {
    ApplicationContextRunner all =
        empty.withConfiguration(AutoConfigurations.of(TimewheelTransactionAutoConfiguration.class));
    ApplicationContextRunner onRocks =
        all.withPropertyValues("timewheel.durable.directory=" + directory.resolve("timers"));
    for (ApplicationContextRunner stores :
        List.of(onRocks, all.withBean(InMemoryTimerStore.class, InMemoryTimerStore::create))) {
      refused(
          stores,
          Transactional.class,
          "it is transactional, but its timers are not in a database (expected: a JdbcTimerStore");
    }
    assertThat(directory).isEmptyDirectory();
    refused(runner, Misled.class, "its parameters (expected: a Firing, a payload");
  }

  @Test
  void aPayloadThatNothingReads() {
    refused(
        empty.withBean(InMemoryTimerStore.class, InMemoryTimerStore::create),
        Payload.class,
        "no codec reads a java.lang.String (expected: a PayloadCodec");
  }

  @Test
  void anApplicationThatMakesItsOwnDurableTimer() {
    refused(
        runner.withUserConfiguration(OwnTimer.class),
        Mine.class,
        "the application has made its own DurableTimer (expected: a DurableTimerCustomizer");
  }

  @Test
  void anApplicationWithoutAStore() {
    empty
        .withClassLoader(new FilteredClassLoader("io.timewheel.durable.rocksdb"))
        .withBean(Mine.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessageContaining("no store (expected: a TimerStore bean"));
  }

  static class TwoPayloads {
    @OnTimer("bad")
    void on(String one, String other) {}
  }

  static class TwoFirings {
    @OnTimer("bad")
    void on(Firing one, Firing other) {}
  }

  static class Transactional {
    @OnTimer(value = "bad", transactional = true)
    void on(TransactionFiring firing) {}
  }

  static class Misled {
    @OnTimer("bad")
    void on(TransactionFiring firing) {}
  }

  static class Generic {
    @OnTimer("bad")
    void on(List<String> payload) {}
  }

  static class Primitive {
    @OnTimer("bad")
    void on(int payload) {}
  }

  static class Returning {
    @OnTimer("bad")
    boolean on() {
      return true;
    }
  }

  static class Asynchronous {
    @Async
    @OnTimer("bad")
    void on() {}
  }

  static class Twins {
    @OnTimer("twin")
    void one() {}

    @OnTimer("twin")
    void other() {}
  }

  static class Mine {
    @OnTimer("mine")
    void on() {}
  }

  static class Timeless {
    @OnTimer(value = "bad", timeLimit = "soon")
    void on() {}
  }

  static class Limitless {
    @OnTimer(value = "bad", limit = 0)
    void on() {}
  }

  static class Nameless {
    @OnTimer("")
    void on() {}
  }

  static class Payload {
    @OnTimer("bad")
    void on(String payload) {}
  }

  static class Hidden implements OnTimerTest.Work {
    @Override
    public void on() {}

    @OnTimer("bad")
    void on(Firing firing) {}
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnTimer {
    @Bean
    DurableTimer mine(InMemoryTimerStore store) {
      return DurableTimer.builder(store).start();
    }
  }

  static final class Unused implements PayloadCodec {
    @Override
    public byte[] encode(Object payload) {
      throw new AssertionError("nothing is scheduled here");
    }

    @Override
    public <T> T decode(byte[] payload, Class<T> type) {
      throw new AssertionError("nothing fires here");
    }
  }
}
