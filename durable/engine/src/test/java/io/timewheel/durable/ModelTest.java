// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.durable.model.CancelResult;
import io.timewheel.durable.model.DurableTimerException;
import io.timewheel.durable.model.DurableTimerException.Reason;
import io.timewheel.durable.model.Firing;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.model.VerbResult;
import io.timewheel.durable.testkit.DurableTestkit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

/** Compares a durable timer with a map from id to due time, with restarts. */
@Tag("promise-38")
class ModelTest {
  private enum Kind {
    SCHEDULE,
    REPLACE_A_VERSION,
    CANCEL,
    MOVE,
    PAUSE,
    RESUME,
    ADVANCE,
    RESTART,
    KILLED_FOR_A_WHILE
  }

  private record Op(Kind kind, int id, int millis) {}

  @Provide
  Arbitrary<List<Op>> programs() {
    return Combinators.combine(
            Arbitraries.of(Kind.class),
            Arbitraries.integers().between(0, 4),
            Arbitraries.integers().between(0, 100_000))
        .as(Op::new)
        .list()
        .ofMaxSize(40);
  }

  @Property(tries = 300)
  void firesTheSameTimersAsTheModel(@ForAll("programs") List<Op> program) {
    new Run().run(program);
  }

  private static final class Run {
    private final DurableTestkit kit = DurableTestkit.create();
    private InMemoryTimerStore store = InMemoryTimerStore.create();
    private final List<String> fired = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();
    private final Map<String, Long> due = new TreeMap<>();
    private final Map<String, Long> paused = new HashMap<>();
    private final Map<String, CancelResult.Outcome> finished = new HashMap<>();
    private DurableTimer scheduler = start();

    private DurableTimer start() {
      return kit.start(store, builder -> builder.handler("h", this::handle).maxWindow(16));
    }

    private void handle(Firing firing) {
      fired.add(firing.id() + "@" + now());
    }

    private long now() {
      return kit.now().toEpochMilli() - DurableTestkit.START.toEpochMilli();
    }

    void run(List<Op> program) {
      for (Op op : program) {
        apply(op, "t" + op.id());
        kit.settle();
        expectUntil(now());
        assertThat(fired).as("after " + op).containsExactlyInAnyOrderElementsOf(expected);
      }
      advance(200_000);
      assertThat(fired).containsExactlyInAnyOrderElementsOf(expected);
    }

    private void apply(Op op, String id) {
      switch (op.kind()) {
        case SCHEDULE -> {
          boolean pending = due.containsKey(id) || paused.containsKey(id);
          ScheduleResult result =
              scheduler.schedule(
                  TimerSpec.of("ns", id).handler("h").after(Duration.ofMillis(op.millis())));
          assertThat(result.outcome())
              .isEqualTo(
                  pending ? ScheduleResult.Outcome.REPLACED : ScheduleResult.Outcome.CREATED);
          paused.remove(id);
          finished.remove(id);
          due.put(id, now() + op.millis());
        }
        case REPLACE_A_VERSION -> {
          long version = scheduler.timer("ns", id).get().map(TimerInfo::version).orElse(1L);
          TimerSpec spec =
              TimerSpec.of("ns", id)
                  .handler("h")
                  .after(Duration.ofMillis(op.millis()))
                  .onlyIfVersion(version);
          if (due.containsKey(id) || paused.remove(id) != null) {
            assertThat(scheduler.schedule(spec).outcome())
                .isEqualTo(ScheduleResult.Outcome.REPLACED);
            due.put(id, now() + op.millis());
          } else {
            Reason reason = finished.containsKey(id) ? Reason.FINISHED : Reason.VERSION_DIFFERS;
            assertThatThrownBy(() -> scheduler.schedule(spec))
                .isInstanceOfSatisfying(
                    DurableTimerException.class, e -> assertThat(e.reason()).isEqualTo(reason));
          }
        }
        case CANCEL -> {
          Long wasDue = due.remove(id);
          Long wasPaused = paused.remove(id);
          if (wasDue != null || wasPaused != null) {
            finished.put(id, CancelResult.Outcome.CANCELLED);
          }
          assertThat(scheduler.timer("ns", id).cancel().outcome())
              .isEqualTo(finished.getOrDefault(id, CancelResult.Outcome.NOT_FOUND));
        }
        case MOVE -> {
          VerbResult result =
              scheduler.timer(new TimerKey("ns", id)).move(kit.now().plusMillis(op.millis()));
          if (due.containsKey(id)) {
            assertThat(result).isEqualTo(VerbResult.DONE);
            due.put(id, now() + op.millis());
          } else if (paused.containsKey(id)) {
            paused.put(id, now() + op.millis());
          }
        }
        case PAUSE -> {
          scheduler.timer("ns", id).pause();
          if (due.containsKey(id)) {
            paused.put(id, due.remove(id));
          }
        }
        case RESUME -> {
          scheduler.timer("ns", id).resume();
          if (paused.containsKey(id)) {
            due.put(id, Math.max(now(), paused.remove(id)));
          }
        }
        case ADVANCE -> advance(op.millis());
        case RESTART -> {
          kit.kill(scheduler);
          restart();
        }
        case KILLED_FOR_A_WHILE -> {
          kit.kill(scheduler);
          kit.advanceBy(Duration.ofMillis(op.millis()));
          due.replaceAll((key, at) -> Math.max(at, now()));
          restart();
        }
      }
    }

    private void restart() {
      store = store.reopen();
      scheduler = start();
    }

    private void advance(long millis) {
      kit.advanceBy(Duration.ofMillis(millis));
      expectUntil(now());
    }

    private void expectUntil(long now) {
      due.entrySet()
          .removeIf(
              entry -> {
                if (entry.getValue() <= now) {
                  expected.add(entry.getKey() + "@" + entry.getValue());
                  finished.put(entry.getKey(), CancelResult.Outcome.COMPLETED);
                  return true;
                }
                return false;
              });
    }
  }
}
