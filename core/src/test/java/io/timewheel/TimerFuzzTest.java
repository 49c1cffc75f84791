// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Fuzzes a whole timer, including re-entrant callbacks, against the model in {@link FuzzedTimer}.
 * Only this test runs random operations on a timer with a limit, an executor and a listener.
 *
 * <p>{@code mvn -B -pl core -am test -Dtest=TimerFuzzTest -Dtimewheel.fuzz.operations=100000000}
 */
class TimerFuzzTest {
  private static final long OPERATIONS_OF_THE_BUILD = 600_000;
  private static final long OPERATIONS_OF_THE_PROOF = 3_000_000;
  private static final long MILLI = 1_000_000;

  private static final long[] ORIGINS = {0, Long.MIN_VALUE, -1, Long.MAX_VALUE - 5, -90 * MILLI};
  private static final long[] TICKS = {MILLI, MILLI, 1, 7, 100 * MILLI, 86_400_000 * MILLI};
  private static final long[] SLOTS = {0, 0, 0, 1, 2, 64};

  @Test
  void timersMatchTheirModel() {
    fuzzer().replay().run(OPERATIONS_OF_THE_BUILD);
  }

  @Test
  @Tag("proof")
  void timersMatchTheirModelInManyPrograms() {
    fuzzer().replay().runOthers(OPERATIONS_OF_THE_PROOF);
  }

  private static Fuzzer fuzzer() {
    return new Fuzzer("timer", program -> new FuzzedTimer(program).run(), TimerFuzzTest::generate);
  }

  // Generation of programs

  private static List<FuzzOp> generate(SplittableRandom random) {
    List<FuzzOp> program = new ArrayList<>();
    program.add(FuzzOp.of("origin", one(ORIGINS, random), 0));
    program.add(FuzzOp.of("tick", one(TICKS, random), 0));
    program.add(FuzzOp.of("slots", one(SLOTS, random), 0));
    // Do so rarely: reading every link takes longer than all other checks, and WheelFuzzTest does
    // it always.
    program.add(FuzzOp.of("links", random.nextInt(8) == 0 ? 1 : 0, 0));
    if (random.nextInt(4) == 0) {
      program.add(FuzzOp.of("limit", 1 + random.nextInt(6), 0));
    }
    if (random.nextInt(3) == 0) {
      program.add(FuzzOp.of("executor", 1 + random.nextInt(4), 0));
      program.add(FuzzOp.of("policy", random.nextInt(4), 0));
    }
    if (random.nextInt(3) == 0) {
      program.add(FuzzOp.of("listener", 1 + random.nextInt(2), 0));
    }
    boolean crowded = random.nextInt(40) == 0;
    int length = 10 + random.nextInt(40);
    for (int i = 0; i < length; i++) {
      program.add(
          crowded && random.nextInt(8) == 0
              ? FuzzOp.of("startMany", ticks(random), random.nextInt(8))
              : operation(random));
    }
    for (int scripts = random.nextInt(5); scripts > 0; scripts--) {
      program.add(FuzzOp.of("script", 0, 0));
      for (int i = random.nextInt(6); i > 0; i--) {
        program.add(operation(random));
      }
    }
    return program;
  }

  private static FuzzOp operation(SplittableRandom random) {
    long any = random.nextInt(1 << 20);
    int script = random.nextInt(8);
    return switch (random.nextInt(64)) {
      case 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 ->
          FuzzOp.of("start", ticks(random), script);
      case 14, 15, 16 -> FuzzOp.of("startNanos", nanos(random), script);
      case 17, 18, 19, 20, 21, 22 -> FuzzOp.of("cancel", any, 0);
      case 23, 24, 25, 26, 27, 28 -> FuzzOp.of("move", any, ticks(random));
      case 29, 30 -> FuzzOp.of("moveNanos", any, nanos(random));
      case 31, 32, 33, 34, 35, 36 -> FuzzOp.of("advance", ticks(random), random.nextInt(3) - 1);
      case 37, 38, 39, 40, 41, 42 -> FuzzOp.of("advanceNext", random.nextInt(2), 0);
      case 43 -> FuzzOp.of("advanceNanos", -random.nextLong(100 * MILLI), 0);
      case 44 -> FuzzOp.of("stop", 0, random.nextInt(2));
      case 45, 46 -> FuzzOp.of("throw", 0, 0);
      case 47 -> FuzzOp.of("interrupt", 0, 0);
      case 48, 49 -> FuzzOp.of("runAccepted", 0, 0);
      case 50, 51, 52 -> FuzzOp.of("rearm", 0, ticks(random));
      default -> FuzzOp.of("poll", random.nextInt(4) == 0 ? 1 + random.nextInt(70) : 0, 0);
    };
  }

  /** Returns few ticks more often than many, and often a number near a power of 256. */
  private static long ticks(SplittableRandom random) {
    if (random.nextInt(3) > 0) {
      return random.nextInt(520);
    }
    int power = Math.min(random.nextInt(8), random.nextInt(8));
    return (1L << (8 * power)) * (1 + random.nextInt(3)) + random.nextInt(3) - 1;
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
