// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.DurableTimer;
import io.timewheel.durable.InMemoryTimerStore;
import io.timewheel.durable.TimerSpec;
import io.timewheel.durable.rocksdb.RocksTimerStore;
import io.timewheel.durable.spi.TimerStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/** Tests durable timers in a directory, the default without another store. */
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
  void directoryInUseEndsTheStart() {
    try (RocksTimerStore other = RocksTimerStore.open(directory)) {
      runner
          .withBean(DurableLifeTest.Handling.class)
          .run(
              context ->
                  assertThat(analysis(context.getStartupFailure()).getDescription())
                      .isEqualTo(
                          "The durable timers cannot be kept in the directory '"
                              + directory
                              + "' of the property 'timewheel.durable.directory':\n\n"
                              + directory
                              + ": is in use by another store, of this process or another one"));
      assertThat(other.paused()).isEmpty(); // it is still open
    }
  }

  /** Returns the text that Spring Boot prints for a failure. */
  private static FailureAnalysis analysis(Throwable failure) {
    return SpringFactoriesLoader.forDefaultResourceLocation()
        .load(FailureAnalyzer.class, FailureHandler.logging(LogFactory.getLog("analyzers")))
        .stream()
        .map(analyzer -> analyzer.analyze(failure))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void directoryWithOtherFilesEndsTheStartAndIsReported() throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("thesis.txt"), "mine");
    Path relative = Path.of("").toAbsolutePath().relativize(directory.toAbsolutePath());
    runner
        .withPropertyValues("timewheel.durable.directory=" + relative)
        .withBean(DurableLifeTest.Handling.class)
        .run(
            context -> {
              FailureAnalysis analysis = analysis(context.getStartupFailure());
              assertThat(analysis.getDescription())
                  .contains("'" + relative + "'")
                  .contains(directory.getFileName() + ": is not a store, and not empty")
                  .contains(Path.of("").toAbsolutePath().toString());
              assertThat(analysis.getAction()).startsWith("Set 'timewheel.durable.directory' to ");
            });
  }

  @Test
  void emptyDirectoryPropertyEndsTheStart() {
    runner
        .withPropertyValues("timewheel.durable.directory=")
        .withBean(DurableLifeTest.Handling.class)
        .run(
            context ->
                assertThat(analysis(context.getStartupFailure()).getDescription())
                    .contains("Invalid value '' for configuration property")
                    .contains("'timewheel.durable.directory'")
                    .contains("expected: a path"));
  }

  @Test
  void nothingIsMadeUnlessTimersAreRequested() {
    runner.run(
        context -> {
          assertThat(context).hasNotFailed();
          assertThat(directory).doesNotExist();
        });
  }

  @Test
  void anotherStoreReplacesIt() {
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

  @Test
  void handlersWithoutAStoreEndTheStart() {
    runner
        .withClassLoader(new FilteredClassLoader("io.timewheel.durable.rocksdb"))
        .withBean(DurableLifeTest.Handling.class)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .rootCause()
                    .hasMessage(
                        "a DurableTimer is required, but there is no store (expected: a TimerStore"
                            + " bean, such as a JdbcTimerStore, or timewheel-durable-rocksdb on the"
                            + " class path)"));
  }
}
