// SPDX-License-Identifier: Apache-2.0
package io.timewheel;

import io.timewheel.testing.Seed;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Runs random programs until one fails or the number of operations is reached. Makes a failing
 * program as short as possible, and prints it in the format of the corpus.
 *
 * <p>The corpus, {@code src/test/resources/fuzz}, contains a file for every program that once found
 * a fault. The fuzzer replays all of them first. Some of the random programs are mutations of the
 * corpus.
 *
 * <p>{@code -Dtimewheel.fuzz.operations=} sets the number of operations, and {@link Seed} the
 * programs.
 */
final class Fuzzer {
  private static final long SHRINK_NANOS = 20_000_000_000L;

  /** Runs programs on the tested object. */
  interface Target {
    /** Runs a program, and returns how many operations it took. */
    long run(List<FuzzOp> program);
  }

  private final String corpusName;

  private final Target target;

  private final Function<SplittableRandom, List<FuzzOp>> generator;
  private final List<List<FuzzOp>> corpus = new ArrayList<>();

  Fuzzer(String corpusName, Target target, Function<SplittableRandom, List<FuzzOp>> generator) {
    this.corpusName = corpusName;
    this.target = target;
    this.generator = generator;
  }

  /** Replays the corpus. */
  Fuzzer replay() {
    URL folder = Fuzzer.class.getResource("/fuzz/" + corpusName);
    try (Stream<Path> files = Files.list(Path.of(folder.toURI()))) {
      for (Path file : files.sorted().toList()) {
        List<FuzzOp> program = FuzzOp.parse(Files.readAllLines(file));
        corpus.add(program);
        try {
          target.run(program);
        } catch (Throwable e) {
          throw new AssertionError(file + " of the corpus fails again", e);
        }
      }
    } catch (IOException | URISyntaxException e) {
      throw new AssertionError("the corpus cannot be read", e);
    }
    return this;
  }

  void run(long operationsOfTheBuild) {
    run(operationsOfTheBuild, Seed.get());
  }

  /** Runs other programs than {@link #run(long)}. */
  void runOthers(long operationsOfTheBuild) {
    run(operationsOfTheBuild, Seed.get() + (1L << 32));
  }

  private void run(long operationsOfTheBuild, long seed) {
    long operations = Long.getLong("timewheel.fuzz.operations", operationsOfTheBuild);
    long startNanos = System.nanoTime();
    long programs = 0;
    for (long done = 0; done < operations; programs++) {
      SplittableRandom random = new SplittableRandom(seed + programs);
      List<FuzzOp> program = generator.apply(random);
      if (!corpus.isEmpty() && random.nextInt(8) == 0) {
        program = crossed(corpus.get(random.nextInt(corpus.size())), program, random);
      }
      try {
        done += target.run(program);
      } catch (Throwable e) {
        List<FuzzOp> shortest = shrink(program);
        throw new AssertionError(
            "seed " + (seed + programs) + ", after " + done + " operations:\n" + failure(shortest),
            e);
      }
    }
    System.out.printf(
        "fuzz/%s: %,d programs of %,d operations in %,d ms, seed %d, corpus of %d%n",
        corpusName,
        programs,
        operations,
        (System.nanoTime() - startNanos) / 1_000_000,
        seed,
        corpus.size());
  }

  /** Returns a program of the corpus with a few operations removed and a few others inserted. */
  private static List<FuzzOp> crossed(
      List<FuzzOp> old, List<FuzzOp> other, SplittableRandom random) {
    List<FuzzOp> crossed = new ArrayList<>(old);
    for (int i = random.nextInt(4); i > 0 && !crossed.isEmpty(); i--) {
      crossed.remove(random.nextInt(crossed.size()));
    }
    for (int i = random.nextInt(6); i > 0; i--) {
      crossed.add(random.nextInt(crossed.size() + 1), other.get(random.nextInt(other.size())));
    }
    return crossed;
  }

  private String failure(List<FuzzOp> program) {
    try {
      target.run(program);
      return "a program that does not fail every time:\n" + FuzzOp.print(program);
    } catch (Throwable e) {
      return "# " + e.toString().replace("\n", "\n# ") + "\n" + FuzzOp.print(program);
    }
  }

  private boolean fails(List<FuzzOp> program) {
    try {
      target.run(program);
      return false;
    } catch (Throwable e) {
      return true;
    }
  }

  /** Removes the operations that the failure does not need, and makes the numbers small. */
  private List<FuzzOp> shrink(List<FuzzOp> failing) {
    long untilNanos = System.nanoTime() + SHRINK_NANOS;
    List<FuzzOp> program = failing;
    List<FuzzOp> before;
    do {
      before = program;
      for (int length = program.size() / 2; length > 0; length /= 2) {
        for (int from = program.size() - length; from >= 0; from -= length) {
          if (System.nanoTime() - untilNanos > 0) {
            return program;
          }
          List<FuzzOp> shorter = new ArrayList<>(program);
          shorter.subList(from, Math.min(from + length, shorter.size())).clear();
          if (fails(shorter)) {
            program = shorter;
            from = Math.min(from, program.size());
          }
        }
      }
      program = shrinkNumbers(program, untilNanos);
    } while (!program.equals(before));
    return program;
  }

  private List<FuzzOp> shrinkNumbers(List<FuzzOp> failing, long untilNanos) {
    List<FuzzOp> program = new ArrayList<>(failing);
    for (int i = 0; i < program.size(); i++) {
      FuzzOp op = program.get(i);
      for (FuzzOp smaller :
          List.of(
              FuzzOp.of(op.name(), 0, op.b()),
              FuzzOp.of(op.name(), op.a(), 0),
              FuzzOp.of(op.name(), op.a() / 2, op.b()),
              FuzzOp.of(op.name(), op.a(), op.b() / 2),
              FuzzOp.of(op.name(), less(op.a()), op.b()),
              FuzzOp.of(op.name(), op.a(), less(op.b())))) {
        if (smaller.equals(program.get(i)) || System.nanoTime() - untilNanos > 0) {
          continue;
        }
        FuzzOp saved = program.set(i, smaller);
        if (!fails(program)) {
          program.set(i, saved);
        }
      }
    }
    return program;
  }

  /**
   * Returns a smaller number. Halving finds a nearly smallest number; steps of one find the
   * smallest.
   */
  private static long less(long number) {
    return Math.abs(number) > 200 ? number : number - Long.signum(number);
  }
}
