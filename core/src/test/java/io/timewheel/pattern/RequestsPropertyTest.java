// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

@SuppressWarnings("FutureReturnValueIgnored")
class RequestsPropertyTest {
  private static final int CHANNELS = 3;
  private static final int IDS = 6;

  /** The hook throws if an answer to BAD is late. */
  private static final int BAD = 2;

  /** A dependent of AGAIN starts another request, on a channel that is never closed. */
  private static final int AGAIN = 5;

  private record Waiting(int serial, long id, long dueMillis, CompletableFuture<String> answer) {}

  @Property(tries = 100)
  @Tag("promise-Requests")
  void behavesLikeItsModel(@ForAll long seed) {
    new Calls(seed).run(300);
  }

  private static final class Calls extends Program {
    private final Requests<String> requests =
        Requests.<String>builder(rig.timer)
            .executor(rig)
            .onLate(this::late)
            .onError(rig::error)
            .build();
    private final List<Requests.Channel<String>> channels = new ArrayList<>();
    private final List<Map<Long, Waiting>> model = new ArrayList<>();
    private final Requests.Channel<String> again = requests.channel();
    private int next;
    private int startedAgain;
    private int expectedAgain;

    Calls(long seed) {
      super(seed);
      for (int i = 0; i < CHANNELS; i++) {
        channels.add(requests.channel());
        model.add(new HashMap<>());
      }
    }

    private void late(Requests.Channel<String> channel, long id, String answer) {
      notified.add("late " + id + answer);
      if (id == BAD) {
        throw new IllegalStateException();
      }
    }

    @Override
    void operate() {
      int index = random.nextInt(CHANNELS);
      Requests.Channel<String> channel = channels.get(index);
      Map<Long, Waiting> waiting = model.get(index);
      long id = random.nextInt(IDS);
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3, 4 -> start(channel, waiting, id);
        case 5, 6 -> {
          String answer = "a" + next++;
          assertThat(channel.complete(id, answer)).isEqualTo(waiting.containsKey(id));
          if (waiting.containsKey(id)) {
            ended(waiting.remove(id), answer);
          } else {
            expected.add("late " + id + answer);
            expectedErrors += id == BAD ? 1 : 0;
          }
        }
        case 7 -> {
          assertThat(channel.fail(id, new ArithmeticException()))
              .isEqualTo(waiting.containsKey(id));
          if (waiting.containsKey(id)) {
            ended(waiting.remove(id), "ArithmeticException");
          }
        }
        case 8, 9, 10 -> byTheUser(waiting.remove(id));
        default -> close(index);
      }
    }

    private void start(Requests.Channel<String> channel, Map<Long, Waiting> waiting, long id) {
      if (waiting.containsKey(id)) {
        assertThatIllegalArgumentException().isThrownBy(() -> channel.start(id, ofMillis(1)));
        return;
      }
      long timeoutMillis = random.nextLong(1, random.nextInt(10) == 0 ? 200 : 20);
      int serial = next++;
      CompletableFuture<String> answer = channel.start(id, ofMillis(timeoutMillis));
      waiting.put(id, new Waiting(serial, id, rig.nowMillis() + timeoutMillis, answer));
      answer.whenComplete(
          (value, error) -> {
            notified.add(serial + (error == null ? value : error.getClass().getSimpleName()));
            if (id == AGAIN) {
              again.start(startedAgain++, Duration.ofDays(1));
            }
          });
    }

    private void byTheUser(Waiting waiting) {
      if (waiting == null) {
        return;
      }
      if (random.nextBoolean()) {
        assertThat(waiting.answer.cancel(true)).isTrue();
        ended(waiting, "CancellationException");
      } else {
        assertThat(waiting.answer.complete("mine")).isTrue();
        ended(waiting, "mine");
      }
    }

    /** Closes a channel and opens another in its place. */
    private void close(int index) {
      Requests.Channel<String> channel = channels.get(index);
      Map<Long, Waiting> closed = model.get(index);
      assertThat(channel.close(new IllegalStateException())).isEqualTo(closed.size());
      closed.values().forEach(waiting -> ended(waiting, "IllegalStateException"));
      assertThat(channel.size()).isZero();
      assertThat(channel.start(1, ofMillis(1))).isCompletedExceptionally();
      model.set(index, new HashMap<>());
      channels.set(index, requests.channel());
    }

    private void ended(Waiting waiting, String outcome) {
      expected.add(waiting.serial + outcome);
      expectedAgain += waiting.id == AGAIN ? 1 : 0;
    }

    @Override
    void tick() {
      for (Map<Long, Waiting> waiting : model) {
        List<Waiting> due = new ArrayList<>(waiting.values());
        due.removeIf(request -> request.dueMillis > rig.nowMillis());
        waiting.values().removeAll(due);
        for (Waiting request : due) {
          execute(
              () -> ended(request, "TimeoutException"), () -> ended(request, "TimeoutException"));
        }
      }
    }

    @Override
    void check() {
      int inFlight = expectedAgain;
      for (int i = 0; i < CHANNELS; i++) {
        assertThat(channels.get(i).size()).isEqualTo(model.get(i).size());
        inFlight += model.get(i).size();
      }
      assertThat(requests.size()).isEqualTo(inFlight);
      assertThat(rig.timer.pendingTimeouts()).as("one for each").isEqualTo(inFlight);
    }

    @Override
    void end() {
      for (int i = 0; i < CHANNELS; i++) {
        close(i);
      }
      assertThat(again.close(new IllegalStateException())).isEqualTo(expectedAgain);
      expectedAgain = 0;
    }
  }
}
