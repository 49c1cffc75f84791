// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.due;

import static org.assertj.core.api.Assertions.assertThat;

import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.record.DuePosition;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Compares a coverage with an index and a naive window, at random. The window must contain each
 * timer that the coverage claims to cover.
 */
class CoverageFuzzTest {
  private static final int PAGE = 3;
  private static final int TIMES = 40;
  private static final List<String> HANDLERS = List.of("a", "b", "c");

  private Random random = new Random();
  private final TreeMap<DuePosition, String> index = new TreeMap<>();
  private final Set<DuePosition> window = new HashSet<>();
  private Coverage coverage = new Coverage(handler -> true);
  private boolean restart;
  private int ids;

  private void offer(DuePosition position) {
    if (coverage.covers(position, index.get(position))) {
      window.add(position);
    }
  }

  private void commit() {
    DuePosition position = new DuePosition(time(), new TimerKey("ns", "t" + ids++));
    index.put(position, HANDLERS.get(random.nextInt(HANDLERS.size())));
    offer(position);
  }

  private long time() {
    return random.nextInt(TIMES);
  }

  private void dropOthers() {
    window.removeIf(position -> !coverage.contains(position.fireAt()));
  }

  private void read(Coverage.Section section) {
    DuePosition after = section.after();
    for (int pages = 1; ; pages++) {
      List<DuePosition> page = new ArrayList<>();
      for (DuePosition each : index.keySet()) {
        if ((after == null || each.compareTo(after) > 0)
            && each.fireAt() < section.until()
            && page.size() < PAGE) {
          page.add(each);
        }
      }
      page.forEach(this::offer);
      if (page.size() < PAGE || !coverage.continues(section, page.get(PAGE - 1), pages)) {
        return;
      }
      after = page.get(PAGE - 1);
    }
  }

  private void load() {
    if (!restart && coverage.canCatchUp() && random.nextBoolean()) {
      read(coverage.beginCatchUp());
    } else {
      boolean first = restart;
      restart = false;
      read(coverage.begin(first, time()));
    }
  }

  /** Drops the later half of some timers. */
  private void drop(Predicate<DuePosition> which, Consumer<DuePosition> noted) {
    List<DuePosition> mine = window.stream().filter(which).sorted().toList();
    if (!mine.isEmpty()) {
      int kept = (mine.size() + 1) / 2;
      mine.subList(kept, mine.size()).forEach(window::remove);
      noted.accept(mine.get(kept - 1));
    }
  }

  private void step() {
    String handler = HANDLERS.get(random.nextInt(HANDLERS.size()));
    switch (random.nextInt(9)) {
      case 0 -> {
        coverage.endAt(time());
        dropOthers();
      }
      case 1 -> {
        coverage.beginAt(time());
        dropOthers();
        restart = true;
      }
      case 2 ->
          drop(
              position -> handler.equals(index.get(position)),
              last -> coverage.passOver(handler, last));
      case 3 -> drop(position -> true, coverage::dropAfter);
      case 4, 5 -> load();
      default -> commit();
    }
  }

  @Test
  void theWindowContainsEachCoveredTimer() {
    for (int seed = 0; seed < 20_000; seed++) {
      random = new Random(seed);
      index.clear();
      window.clear();
      restart = true;
      coverage = new Coverage(handler -> random.nextBoolean());
      for (int i = 0; i < 60; i++) {
        step();
        if (!restart) {
          for (Map.Entry<DuePosition, String> timer : index.entrySet()) {
            if (coverage.covers(timer.getKey(), timer.getValue())) {
              assertThat(window).as("seed " + seed + ", step " + i).contains(timer.getKey());
            }
          }
        }
      }
    }
  }
}
