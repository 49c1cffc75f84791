// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.SettingDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Records with Flight Recorder, and checks the events. The tests move the time of the timers. */
class JfrEventsTest {
  /** So each timer loads the events when it is made. */
  @BeforeAll
  static void useFlightRecorder() {
    FlightRecorder.getFlightRecorder();
  }

  private static final String TIMER_LAG = "io.timewheel.TimerLag";
  private static final String SLOW_TASK = "io.timewheel.SlowTask";
  private static final String WORKER_STALL = "io.timewheel.WorkerStall";

  private final TestClock clock = new TestClock();
  private final RecordingTask task = new RecordingTask(clock);
  private final PolledTimer timer = PolledTimer.builder().timeSource(clock).build();

  @TempDir Path directory;

  // TimerLag

  @Test
  void timerLagReportsHowLateATaskBegan() throws IOException {
    timer.newTimeout(task, 5_500, MICROSECONDS);

    List<RecordedEvent> events = record(TIMER_LAG, by -> {}, () -> passAndPoll(26_000));

    assertThat(events).hasSize(1);
    RecordedEvent event = events.get(0);
    assertThat(event.getString("timer")).isEqualTo("PolledTimer()");
    assertThat(event.getClass("taskClass").getName()).isEqualTo(RecordingTask.class.getName());
    assertThat(event.getDuration("lag")).isEqualTo(Duration.ofNanos(20_500_000));
    assertThat(event.getDuration("late")).isEqualTo(Duration.ofMillis(20));
    assertThat(event.getDuration()).isZero();
    assertThat(event.getStackTrace()).isNull();
  }

  @Test
  void bothEventsNameTheClassThatAWrapperNames() throws IOException {
    TimerTask wrapper =
        new TimerTask() {
          @Override
          public void run(Timeout timeout) {}

          @Override
          public Class<?> taskClass() {
            return RecordingTask.class;
          }
        };
    for (String name : List.of(TIMER_LAG, SLOW_TASK)) {
      timer.newTimeout(wrapper, 1, MILLISECONDS);
      Consumer<Settings> all = name.equals(SLOW_TASK) ? by -> by.threshold("0 ns") : by -> {};

      List<RecordedEvent> events = record(name, all, () -> passAndPoll(50_000));

      assertThat(events).hasSize(1);
      assertThat(events.get(0).getClass("taskClass").getName())
          .isEqualTo(RecordingTask.class.getName());
    }
  }

  @ParameterizedTest
  @CsvSource({"14_999, 0", "15_000, 1"})
  void timerLagIsRecordedFrom10MillisecondsAfterTheTick(long micros, int events)
      throws IOException {
    timer.newTimeout(task, 4_001, MICROSECONDS);
    assertThat(record(TIMER_LAG, by -> {}, () -> passAndPoll(micros))).hasSize(events);
  }

  @Test
  void aLongTickIsNotLate() throws IOException {
    PolledTimer coarse =
        PolledTimer.builder().timeSource(clock).tick(Duration.ofMillis(100)).build();
    coarse.newTimeout(task, 1, MILLISECONDS);

    List<RecordedEvent> events =
        record(
            TIMER_LAG,
            by -> {},
            () -> {
              clock.advance(Duration.ofMillis(109));
              coarse.poll();
            });

    assertThat(task.runs()).isEqualTo(1);
    assertThat(events).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "0 ns, 1",
    "3000000ns, 1",
    "3000 us, 1",
    "3 ms, 1",
    "3ms, 1",
    "4 ms, 0",
    "1 s, 0",
    "1 m, 0",
    "1 h, 0",
    "106752 d, 0",
    "3, 0",
    "-3 ms, 0",
    "often, 0",
  })
  void lagToRecordIsASetting(String late, int events) throws IOException {
    timer.newTimeout(task, 1, MILLISECONDS);
    assertThat(record(TIMER_LAG, by -> by.late(late), () -> passAndPoll(4_000))).hasSize(events);
  }

  @ParameterizedTest
  @CsvSource({"2 ms, 1 h, 1", "1 h, 2 ms, 1", "1 h, often, 0", "5 ms, 1 d, 0"})
  void lowestThresholdOfSeveralRecordingsApplies(String first, String second, int events)
      throws IOException {
    timer.newTimeout(task, 1, MILLISECONDS);
    try (Recording other = new Recording()) {
      other.enable(TIMER_LAG).with("late", first);
      other.start();
      assertThat(record(TIMER_LAG, by -> by.late(second), () -> passAndPoll(4_000)))
          .hasSize(events);
    }
  }

  // SlowTask

  @Test
  void slowTaskNamesTaskAndDuration() throws IOException {
    timer.newTimeout(task, 1, MILLISECONDS);

    List<RecordedEvent> events =
        record(SLOW_TASK, by -> by.threshold("0 ns"), () -> passAndPoll(1_000));

    assertThat(events).hasSize(1);
    RecordedEvent event = events.get(0);
    assertThat(event.getString("timer")).isEqualTo("PolledTimer()");
    assertThat(event.getClass("taskClass").getName()).isEqualTo(RecordingTask.class.getName());
    assertThat(event.getDuration().isNegative()).isFalse();
    assertThat(event.getThread().getJavaThreadId()).isEqualTo(Thread.currentThread().getId());
    assertThat(event.getStackTrace()).isNull();
  }

  @Test
  void reportsASlowTaskOnAnExecutor() throws IOException {
    List<Runnable> queue = new ArrayList<>();
    PolledTimer handingOff = PolledTimer.builder().timeSource(clock).executor(queue::add).build();
    handingOff.newTimeout(task, 1, MILLISECONDS);
    clock.advance(Duration.ofMillis(1));
    handingOff.poll();

    assertThat(record(SLOW_TASK, by -> by.threshold("0 ns"), () -> queue.get(0).run())).hasSize(1);
  }

  @Test
  void reportsASlowTaskThatThrows() throws IOException {
    List<Throwable> errors = new ArrayList<>();
    PolledTimer failing =
        PolledTimer.builder()
            .timeSource(clock)
            .onError((timeout, error) -> errors.add(error))
            .build();
    failing.newTimeout(
        timeout -> {
          throw new IllegalStateException("on purpose");
        },
        1,
        MILLISECONDS);
    clock.advance(Duration.ofMillis(1));

    assertThat(record(SLOW_TASK, by -> by.threshold("0 ns"), failing::poll)).hasSize(1);
    assertThat(errors).hasSize(1);
  }

  @Test
  void reportsNoTaskBelowTheThreshold() throws IOException {
    timer.newTimeout(task, 1, MILLISECONDS);
    assertThat(record(SLOW_TASK, by -> by.threshold("1 d"), () -> passAndPoll(1_000))).isEmpty();
    assertThat(task.runs()).isEqualTo(1);
  }

  // WorkerStall

  @Test
  void workerStallReportsTheOversleep() throws IOException {
    List<RecordedEvent> events = recordSleepOfFiveMilliseconds(Duration.ofMillis(50), "10 ms");

    assertThat(events).hasSize(1);
    RecordedEvent event = events.get(0);
    assertThat(event.getString("timer")).isEqualTo("HierarchicalWheelTimer(stalls)");
    assertThat(event.getDuration("late")).isEqualTo(Duration.ofMillis(45));
    assertThat(event.getThread().getJavaName()).isEqualTo("stalls");
    assertThat(event.getStackTrace()).isNull();
  }

  @Test
  void reportsNoStallBelowItsSetting() throws IOException {
    assertThat(recordSleepOfFiveMilliseconds(Duration.ofNanos(14_999_999), "10 ms")).isEmpty();
  }

  @Test
  void wakingOnTimeIsNoStall() throws IOException {
    assertThat(recordSleepOfFiveMilliseconds(Duration.ofMillis(5), "1 ns")).isEmpty();
  }

  @Test
  void wakingForAnEarlierTimeoutIsNoStall() throws IOException {
    HierarchicalWheelTimer stalls = newTimerWithAThread();
    try {
      stalls.newTimeout(task, 60_000, MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMinutes(1));
      List<RecordedEvent> events =
          record(
              WORKER_STALL,
              by -> by.late("0 ns"),
              () -> {
                stalls.newTimeout(task, 5, MILLISECONDS);
                clock.awaitSleepUntil(Duration.ofMillis(5));
              });
      assertThat(events).isEmpty();
    } finally {
      stalls.stop();
    }
  }

  /** Lets a timer thread sleep until 5 ms, and wakes it at another time. */
  private List<RecordedEvent> recordSleepOfFiveMilliseconds(Duration wakeUp, String late)
      throws IOException {
    HierarchicalWheelTimer stalls = newTimerWithAThread();
    try {
      stalls.newTimeout(task, 5, MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(5));
      return record(
          WORKER_STALL,
          by -> by.late(late),
          () -> {
            clock.advance(wakeUp);
            task.awaitRun();
          });
    } finally {
      stalls.stop();
    }
  }

  private HierarchicalWheelTimer newTimerWithAThread() {
    return HierarchicalWheelTimer.builder().timeSource(clock).name("stalls").build();
  }

  // All events

  @ParameterizedTest
  @CsvSource({
    "io.timewheel.TimerLag, Timer Lag, late",
    "io.timewheel.SlowTask, Slow Task, threshold",
    "io.timewheel.WorkerStall, Worker Stall, late",
  })
  void isRecordedFrom10MillisecondsByDefault(String name, String label, String setting)
      throws IOException {
    recordEverything(); // which makes the events known to the recorder
    EventType type = typeOf(name);
    assertThat(type.getLabel()).isEqualTo(label);
    assertThat(type.getCategoryNames()).containsExactly("Timewheel");
    assertThat(type.getDescription()).isNotBlank();
    assertThat(type.getFields())
        .filteredOn(field -> field.getName().matches("timer|taskClass|lag|late"))
        .isNotEmpty()
        .allSatisfy(field -> assertThat(field.getLabel()).isNotBlank());
    assertThat(type.getSettingDescriptors())
        .filteredOn(descriptor -> descriptor.getName().equals(setting))
        .extracting(SettingDescriptor::getDefaultValue)
        .containsExactly("10 ms");
  }

  @Test
  void recordsNothingIfSwitchedOff() throws IOException {
    HierarchicalWheelTimer late = newTimerWithAThread();
    try (Recording recording = new Recording()) {
      recording.disable(TIMER_LAG);
      recording.disable(SLOW_TASK).with("threshold", "0 ns");
      recording.disable(WORKER_STALL);
      late.newTimeout(task, 5, MILLISECONDS);
      clock.awaitSleepUntil(Duration.ofMillis(5));
      recording.start();
      clock.advance(Duration.ofSeconds(1));
      task.awaitRun();
      late.stop(); // when the timer thread has finished all work for the task
      assertThat(read(recording, Set.of(TIMER_LAG, SLOW_TASK, WORKER_STALL))).isEmpty();
    } finally {
      late.stop();
    }
  }

  @Test
  void failingEventAffectsNothingElse() throws IOException {
    List<Throwable> errors = new ArrayList<>();
    PolledTimer nameless =
        new PolledTimer(
            PolledTimer.builder()
                .timeSource(clock)
                .onError((timeout, error) -> errors.add(error))) {
          @Override
          public String toString() {
            throw new AssertionError("on purpose");
          }
        };
    nameless.newTimeout(task, 1, MILLISECONDS);
    clock.advance(Duration.ofSeconds(1));

    assertThat(record(TIMER_LAG, by -> {}, nameless::poll)).isEmpty();
    nameless.newTimeout(task, 1, MILLISECONDS);
    clock.advance(Duration.ofSeconds(1));
    assertThat(record(SLOW_TASK, by -> by.threshold("0 ns"), nameless::poll)).isEmpty();

    assertThat(task.runs()).isEqualTo(2);
    assertThat(errors).isEmpty();
  }

  private void recordEverything() throws IOException {
    timer.newTimeout(task, 1, MILLISECONDS);
    record(TIMER_LAG, by -> {}, () -> passAndPoll(1_000));
  }

  private static EventType typeOf(String name) {
    return FlightRecorder.getFlightRecorder().getEventTypes().stream()
        .filter(type -> type.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private void passAndPoll(long micros) {
    clock.advance(MICROSECONDS.toNanos(micros));
    timer.poll();
  }

  /** Records one kind of event, and nothing else, during an action. */
  private List<RecordedEvent> record(String name, Consumer<Settings> settings, Runnable action)
      throws IOException {
    try (Recording recording = new Recording()) {
      settings.accept(new Settings(recording, name));
      recording.start();
      action.run();
      return read(recording, Set.of(name));
    }
  }

  private List<RecordedEvent> read(Recording recording, Set<String> names) throws IOException {
    recording.stop();
    Path file = directory.resolve(recording.getId() + ".jfr");
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> names.contains(event.getEventType().getName()))
        .toList();
  }

  /** The settings of an event in a recording. */
  private static final class Settings {
    private final Recording recording;
    private final String name;

    Settings(Recording recording, String name) {
      this.recording = recording;
      this.name = name;
      recording.enable(name);
    }

    void late(String value) {
      recording.enable(name).with("late", value);
    }

    void threshold(String value) {
      recording.enable(name).with("threshold", value);
    }
  }
}
