// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Fuzzes the two wheels against {@link WheelModel}, which checks every link, bit and bound after
 * every operation. Only this test runs random operations on a wheel alone.
 *
 * <p>{@code mvn -B -pl core -am test -Dtest=WheelFuzzTest -Dtimewheel.fuzz.operations=100000000}
 */
class WheelFuzzTest {
  private static final long OPERATIONS_OF_THE_BUILD = 200_000;
  private static final long OPERATIONS_OF_THE_PROOF = 1_000_000;
  private static final int MAX_PENDING = 200;
  private static final long MILLI = 1_000_000;

  private static final long[] ORIGINS = {0, Long.MIN_VALUE, -1, Long.MAX_VALUE - 5, -90 * MILLI};
  private static final long[] TICKS = {MILLI, 1, 7, 100 * MILLI, 86_400_000 * MILLI};
  private static final long[] SLOTS = {0, 0, 0, 0, 1, 2, 64, 512};

  /** The numbers of timeouts from which a slot is opened ahead of time. */
  private static final long[] CROWDS = {1, 2, 3, 5, 8, 12, 16, 70, HierarchicalWheel.LARGE_SLOT};

  @Test
  @Tag("promise-2")
  void wheelsMatchTheirModel() {
    fuzzer().replay().run(OPERATIONS_OF_THE_BUILD);
  }

  @Test
  @Tag("proof")
  void wheelsMatchTheirModelInManyPrograms() {
    fuzzer().replay().runOthers(OPERATIONS_OF_THE_PROOF);
  }

  private static Fuzzer fuzzer() {
    return new Fuzzer("wheel", WheelFuzzTest::run, WheelFuzzTest::generate);
  }

  /** Runs a program, and then expires all remaining timeouts. */
  private static long run(List<FuzzOp> program) {
    int slots = (int) FuzzOp.setting(program, "slots", 0); // none means hierarchical
    int largeSlot = (int) FuzzOp.setting(program, "many", HierarchicalWheel.LARGE_SLOT);
    Function<Ticks, Wheel> wheels =
        slots <= 0
            ? ticks -> new HierarchicalWheel(ticks, largeSlot, Slot::new)
            : ticks -> new HashedWheel(ticks, Integer.highestOneBit(slots));
    WheelModel model =
        new WheelModel(
            FuzzOp.setting(program, "origin", 0),
            Math.max(1, FuzzOp.setting(program, "tick", MILLI)),
            wheels);
    long done = 0;
    for (FuzzOp op : program) {
      done += apply(model, op);
    }
    model.pollAll();
    while (model.size() > 0 && model.earliestTick() <= model.ticks.tickAt(Long.MAX_VALUE)) {
      done += model.runTo(model.earliestTick()).size();
    }
    model.drain(MAX_PENDING);
    return done;
  }

  private static long apply(WheelModel model, FuzzOp op) {
    long a = op.a();
    long b = op.b();
    Ticks ticks = model.ticks;
    switch (op.name()) {
      case "start" -> start(model, ticks.nanosAt(Math.abs(a)), 0);
      case "startNanos" -> start(model, a, 0);
      case "startBorder" -> start(model, untilBorder(model, a, b), 0);
      case "startStale" -> start(model, ticks.nanosAt(Math.abs(a)), ticks.nanosAt(Math.abs(b)));
      case "startMany" -> {
        for (int i = 0; i < Math.abs(b % 100); i++) {
          start(model, ticks.nanosAt(Math.abs(a)), 0);
        }
        return Math.abs(b % 100);
      }
      case "advance" -> model.advance(ticks.nanosAt(Math.abs(a)) + b);
      case "advanceNanos" -> model.advance(Math.max(-100 * MILLI, a));
      case "advanceBorder" -> model.advance(Math.max(0, untilBorder(model, a, b)));
      case "advanceNext" -> {
        if (model.wheel.nextTick() != Ticks.NEVER) {
          model.advanceTo(Math.max(model.nowTick(), model.wheel.nextTick() + Math.abs(a % 3) - 1));
        }
      }
      case "poll" -> model.poll(Math.max(0, model.nowTick() - Math.abs(a)));
      case "pollAll" -> model.pollAll();
      case "drain" -> model.drain((int) Math.abs(a % MAX_PENDING));
      default -> applyToOne(model, op);
    }
    return 1;
  }

  private static void applyToOne(WheelModel model, FuzzOp op) {
    if (model.size() == 0) {
      return;
    }
    Node timeout = model.pick((int) Math.floorMod(op.a(), (long) model.size()));
    Ticks ticks = model.ticks;
    switch (op.name()) {
      case "stop" -> model.stop(timeout);
      case "stopSlot" -> {
        List<Node> mates = model.slotMates(timeout);
        mates
            .subList(0, Math.max(0, mates.size() - (int) Math.abs(op.b() % 70)))
            .forEach(model::stop);
      }
      case "move" -> model.move(timeout, ticks.nanosAt(Math.abs(op.b())));
      case "openAhead" -> model.openAhead();
      case "moveNanos" -> model.move(timeout, op.b());
      case "moveBorder" -> model.move(timeout, untilBorder(model, op.b(), 1));
      case "moveStale" ->
          model.move(
              timeout,
              ticks.tickNanos,
              Math.max(0, model.elapsedNanos() - ticks.nanosAt(Math.abs(op.b()))));
      default -> {} // a setting
    }
  }

  private static void start(WheelModel model, long delayNanos, long staleNanos) {
    if (model.size() < MAX_PENDING) {
      model.start(delayNanos, Math.max(0, model.elapsedNanos() - staleNanos));
    }
  }

  /**
   * Returns the time to the beginning of a tick that is a multiple of a power of 256, in
   * nanoseconds.
   */
  private static long untilBorder(WheelModel model, long power, long multiple) {
    long powerTicks = 1L << (8 * Math.abs(power % 8));
    long next = model.nowTick() / powerTicks + Math.abs(multiple % 4);
    long tick =
        Math.multiplyHigh(next, powerTicks) != 0 ? Long.MAX_VALUE : Math.abs(next * powerTicks);
    return model.ticks.nanosAt(tick) - model.elapsedNanos();
  }

  // Generation of programs

  private static List<FuzzOp> generate(SplittableRandom random) {
    List<FuzzOp> program = new ArrayList<>();
    program.add(FuzzOp.of("origin", one(ORIGINS, random), 0));
    program.add(FuzzOp.of("tick", one(TICKS, random), 0));
    // The model reads all slots after every operation, so large wheels are rare.
    program.add(FuzzOp.of("slots", random.nextInt(100) == 0 ? 4_096 : one(SLOTS, random), 0));
    program.add(FuzzOp.of("many", one(CROWDS, random), 0));
    // Most programs are short and have few pending timeouts, because those are the fastest. Some
    // fill slots beyond the budget of a poll.
    boolean crowded = random.nextInt(40) == 0;
    int length = 10 + random.nextInt(50);
    for (int i = 0; i < length; i++) {
      program.add(
          crowded && random.nextInt(6) == 0
              ? FuzzOp.of("startMany", ticks(random), 50 + random.nextInt(50))
              : operation(random));
    }
    return program;
  }

  private static FuzzOp operation(SplittableRandom random) {
    long any = random.nextInt(1 << 20);
    return switch (random.nextInt(36)) {
      case 0, 1, 2, 3 -> FuzzOp.of("start", ticks(random), 0);
      case 4, 5 -> FuzzOp.of("startBorder", power(random), 1 + random.nextInt(3));
      case 6 -> FuzzOp.of("startStale", ticks(random), ticks(random));
      case 7 -> FuzzOp.of("startNanos", nanos(random), 0);
      case 8, 9 -> FuzzOp.of("stop", any, 0);
      case 10 -> FuzzOp.of("stopSlot", any, random.nextInt(4));
      case 11, 12 -> FuzzOp.of("move", any, ticks(random));
      case 13 -> FuzzOp.of("moveBorder", any, power(random));
      case 14 -> FuzzOp.of("moveStale", any, ticks(random));
      case 15 -> FuzzOp.of("moveNanos", any, nanos(random));
      case 16, 17, 18 -> FuzzOp.of("advance", ticks(random), random.nextInt(3) - 1);
      case 19, 20, 21 -> FuzzOp.of("advanceNext", random.nextInt(3), 0);
      case 22 -> FuzzOp.of("advanceBorder", power(random), 1 + random.nextInt(2));
      case 23 -> FuzzOp.of("advanceNanos", nanos(random), 0);
      case 24, 25, 26, 27, 28 -> FuzzOp.of("poll", random.nextInt(8) == 0 ? ticks(random) : 0, 0);
      case 29, 30 -> FuzzOp.of("pollAll", 0, 0);
      case 31, 32, 33, 34 -> FuzzOp.of("openAhead", 0, 0);
      default -> FuzzOp.of(random.nextInt(4) == 0 ? "drain" : "pollAll", random.nextInt(20), 0);
    };
  }

  /** Returns few ticks more often than many, and often a number near a power of 256. */
  private static long ticks(SplittableRandom random) {
    if (random.nextBoolean()) {
      return random.nextInt(520);
    }
    return (1L << (8 * power(random))) * (1 + random.nextInt(3)) + random.nextInt(3) - 1;
  }

  private static int power(SplittableRandom random) {
    return random.nextInt(2) + Math.min(random.nextInt(7), random.nextInt(7));
  }

  private static long nanos(SplittableRandom random) {
    return switch (random.nextInt(5)) {
      case 0 -> 0;
      case 1 -> Long.MAX_VALUE - random.nextInt(2);
      case 2 -> Long.MIN_VALUE;
      case 3 -> random.nextInt(3) - 1;
      default -> random.nextLong(-50 * MILLI, 50 * MILLI);
    };
  }

  private static long one(long[] choices, SplittableRandom random) {
    return choices[random.nextInt(choices.length)];
  }
}
