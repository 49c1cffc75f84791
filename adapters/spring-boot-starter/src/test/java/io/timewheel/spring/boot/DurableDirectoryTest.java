// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Durable timers in a directory, which is where they are unless there is another store. */
class DurableDirectoryTest {
  @TempDir Path temporary;
  private Path directory;
  private ApplicationContextRunner runner;

  @BeforeEach
  void setUp() {
    directory = temporary.resolve("timers");
    runner =
        new ApplicationContextRunner()
            .withConfiguration(
                AutoConfigurations.of(
                    TimewheelAutoConfiguration.class, TimewheelDurableAutoConfiguration.class))
            .withPropertyValues("timewheel.durable.directory=" + directory);
  }

  private static TimerSpec spec(String id) {
    return TimerSpec.of("shop", id).handler("h");
  }

  @Test
  void timersSurviveTheApplication() {
    runner.run(
        context -> context.getBean(DurableTimer.class).schedule(spec("kept").after(Duration.ZERO)));

    runner
        .withBean(DurableLifeTest.Handling.class)
        .run(
            context ->
                assertThat(context.getBean(DurableLifeTest.Handling.class).next())
                    .isEqualTo("kept"));
  }

  @Test
  void aDirectoryInUseEndsTheStart() {
    try (RocksTimerStore other = RocksTimerStore.open(directory)) {
      runner
          .withBean(DurableLifeTest.Handling.class)
          .run(
              context ->
                  assertThat(context).getFailure().hasStackTraceContaining(directory + ": "));
      assertThat(other.paused()).isEmpty(); // it is still open
    }
  }

  @Test
  void nothingIsMadeUnlessSomethingAsksForTimers() {
    runner.run(
        context -> {
          assertThat(context).hasNotFailed();
          assertThat(directory).doesNotExist();
        });
  }

  @Test
  void anotherStoreTakesItsPlace() {
    runner
        .withBean(DurableLifeTest.Handling.class)
        .withBean(InMemoryTimerStore.class, InMemoryTimerStore::create)
        .run(
            context -> {
              assertThat(context).hasNotFailed().hasSingleBean(TimerStore.class);
              assertThat(directory).doesNotExist();
            });
  }

  @Test
  void thereIsNoStoreWithoutItsModule() {
    runner
        .withClassLoader(new FilteredClassLoader("io.timewheel.durable.rocksdb"))
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(TimerStore.class));
  }
}
