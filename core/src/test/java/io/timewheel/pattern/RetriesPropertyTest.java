// SPDX-License-Identifier: Apache-2.0
package io.timewheel.pattern;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;

@SuppressWarnings("FutureReturnValueIgnored")
class RetriesPropertyTest {
  private static final int KEYS = 8;

  /** {@code onExhausted} throws for BAD, and adds AGAIN again. */
  private static final int BAD = 3;

  private static final int AGAIN = 5;

  private enum Outcome {
    SUCCEEDS,
    FAILS,
    THROWS,
    ENDS_LATER
  }

  @Property(tries = 100)
  @Tag("promise-Retries")
  void behavesLikeItsModel(@ForAll long seed) {
    new Tries(seed).run(300);
  }

  /** A key of the model: it waits for its next attempt, has been handed over, or is tried. */
  private static final class Trying {
    final int key;
    final long addedMillis;
    int attemptsEnded;
    int offers;
    boolean waiting;
    long dueMillis = Long.MAX_VALUE;

    Trying(int key, long addedMillis) {
      this.key = key;
      this.addedMillis = addedMillis;
    }
  }

  private static final class Tries extends Program {
    private final long salt = random.nextLong();
    private final int maxAttempts = random.nextInt(1, 5);

    /**
     * The time limit of a key. It is never earlier than the first attempt: otherwise, a key that is
     * added again would be exhausted endlessly.
     */
    private final long deadlineMillis = random.nextBoolean() ? 1_000_000 : random.nextLong(20, 80);

    private final Backoff backoff =
        random.nextBoolean()
            ? Backoff.exponential(ofMillis(2), ofMillis(9)).withJitter(1, () -> 0.5)
            : Backoff.fixed(ofMillis(random.nextLong(1, 20)));
    private final Retries<Integer> retries =
        Retries.asyncBuilder(rig.timer, rig, this::attempt)
            .backoff(backoff)
            .maxAttempts(maxAttempts)
            .timeLimit(ofMillis(deadlineMillis))
            .onExhausted(this::exhausted)
            .onError(rig::error)
            .build();
    private final Map<Integer, Trying> model = new TreeMap<>();

    /** How many attempts there were for a key, and the attempts that have not ended, by name. */
    private final int[] attempts = new int[KEYS];

    private final int[] expectedAttempts = new int[KEYS];
    private final Map<String, CompletableFuture<Void>> stages = new HashMap<>();
    private final Map<String, Trying> running = new TreeMap<>();

    Tries(long seed) {
      super(seed);
    }

    /** Returns the outcome, which both derive from the number of the attempt. */
    private Outcome outcome(int key, int attempt) {
      return List.of(Outcome.values())
          .get(new SplittableRandom(Objects.hash(salt, key, attempt)).nextInt(4));
    }

    private CompletionStage<?> attempt(Integer key, int number) throws Exception {
      int attempt = ++attempts[key];
      String name = key + "#" + attempt;
      notified.add(name);
      CompletableFuture<Void> stage = new CompletableFuture<>();
      switch (outcome(key, attempt)) {
        case SUCCEEDS -> stage.complete(null);
        case FAILS -> stage.completeExceptionally(new Exception());
        case THROWS -> throw new Exception();
        case ENDS_LATER -> stages.put(name, stage);
      }
      return stage;
    }

    private void exhausted(Integer key, Throwable error) {
      notified.add("exhausted " + key);
      if (key == BAD) {
        throw new IllegalStateException();
      }
      if (key == AGAIN) {
        retries.add(key);
      }
    }

    @Override
    void operate() {
      int key = random.nextInt(KEYS);
      switch (random.nextInt(10)) {
        case 0, 1, 2, 3, 4 -> {
          assertThat(retries.add(key)).isEqualTo(!model.containsKey(key));
          add(key);
        }
        case 5 -> {
          assertThat(retries.cancel(key)).isEqualTo(model.containsKey(key));
          model.remove(key);
        }
        case 6 -> {
          if (random.nextInt(5) == 0) {
            end();
          }
        }
        default -> endAnAttempt();
      }
    }

    private void endAnAttempt() {
      if (running.isEmpty()) {
        return;
      }
      String name = pick(List.copyOf(running.keySet()));
      Trying trying = running.remove(name);
      CompletableFuture<Void> stage = stages.remove(name);
      if (random.nextBoolean()) {
        stage.complete(null);
        model.remove(trying.key, trying);
      } else {
        stage.completeExceptionally(new Exception());
        failed(trying);
      }
    }

    private void add(int key) {
      if (!model.containsKey(key)) {
        Trying trying = new Trying(key, rig.nowMillis());
        model.put(key, trying);
        schedule(trying);
      }
    }

    private void schedule(Trying trying) {
      // The tick at which it fires; half a delay may lie between two ticks.
      long delayNanos = backoff.delay(trying.attemptsEnded + 1).toNanos();
      long ageMillis = rig.nowMillis() - trying.addedMillis;
      if (trying.attemptsEnded < maxAttempts
          && delayNanos <= (deadlineMillis - ageMillis) * 1_000_000) {
        trying.dueMillis = rig.nowMillis() + (delayNanos + 999_999) / 1_000_000;
        trying.waiting = true;
        trying.offers = 0;
        return;
      }
      model.remove(trying.key);
      execute(() -> expectExhausted(trying.key), () -> expectExhausted(trying.key));
    }

    private void expectExhausted(int key) {
      expected.add("exhausted " + key);
      if (key == BAD) {
        throwsError();
      }
      if (key == AGAIN) {
        add(key);
      }
    }

    private void failed(Trying trying) {
      if (model.get(trying.key) == trying) {
        trying.attemptsEnded++;
        schedule(trying);
      }
    }

    @Override
    void tick() {
      List<Trying> due = new ArrayList<>(model.values());
      due.removeIf(trying -> !trying.waiting || trying.dueMillis > rig.nowMillis());
      due.sort(Comparator.comparing(trying -> trying.key));
      for (Trying trying : due) {
        trying.dueMillis = rig.nowMillis() + Math.min(60_000, 1_000L << trying.offers++);
        int number = trying.attemptsEnded;
        execute(() -> begin(trying, number), () -> rejected(trying));
      }
    }

    private void rejected(Trying trying) {
      if (trying.dueMillis > trying.addedMillis + deadlineMillis) {
        model.remove(trying.key, trying);
        expectExhausted(trying.key);
      }
    }

    private void begin(Trying trying, int number) {
      int key = trying.key;
      if (model.get(key) != trying || !trying.waiting || trying.attemptsEnded != number) {
        return;
      }
      trying.waiting = false;
      int attempt = ++expectedAttempts[key];
      String name = key + "#" + attempt;
      expected.add(name);
      switch (outcome(key, attempt)) {
        case SUCCEEDS -> model.remove(key);
        case FAILS, THROWS -> failed(trying);
        case ENDS_LATER -> running.put(name, trying);
      }
    }

    @Override
    void check() {
      assertThat(retries.size()).isEqualTo(model.size());
      assertThat(rig.timer.pendingTimeouts())
          .as("one for each, whether it waits or is being tried")
          .isEqualTo(model.size());
      assertThat(stages.keySet()).isEqualTo(running.keySet());
    }

    @Override
    void end() {
      assertThat(retries.cancelAll()).containsExactlyInAnyOrderElementsOf(model.keySet());
      model.clear();
    }
  }
}
