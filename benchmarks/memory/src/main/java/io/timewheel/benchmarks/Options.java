// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line.
 *
 * @param quick whether to run for minutes only
 * @param only the workloads
 * @param variants the text that names of variants must contain
 * @param subjects the subjects
 * @param named whether the subjects were named, so that one that this JVM lacks is an error
 * @param rounds how often to measure each, or 0 for the number in the plan
 * @param jdk the home of the measured JDK
 * @param out the file for the results, or null for a name with the date
 * @param into whether that file already has results, of which those measured now are replaced
 */
record Options(
    boolean quick,
    Set<Workload> only,
    String variants,
    Set<SubjectKind> subjects,
    boolean named,
    int rounds,
    Path jdk,
    @Nullable Path out,
    boolean into) {

  static final String USAGE =
      """
      Usage: benchmarks/memory/run [--quick] [--only WORKLOAD,...] [--variants TEXT] [--subjects SUBJECT,...]
                            [--rounds N] [--jdk HOME] [--out FILE | --into FILE]

      Compares Timewheel with other timers, each measurement in a separate JVM, and prints tables.

        --quick      run some minutes: one short round, without the largest variants and some subjects
        --only       measure these workloads only: %s
        --variants   measure only variants of the workloads whose names contain this text
        --subjects   measure these subjects only: %s
        --rounds     repeat each measurement N times, instead of as planned
        --jdk        measure the JDK in this directory, instead of the one that runs this program
        --out        write the raw results to this file, instead of one in benchmarks/memory/results
        --into       the same, and keep the results in the file of variants that are not measured now

      The results are valid only if the machine is otherwise idle.
      """
          .formatted(
              ids(Workload.values(), Workload::id), ids(SubjectKind.values(), SubjectKind::id));

  private static <T> String ids(T[] values, Function<T, String> id) {
    return String.join(",", Arrays.stream(values).map(id).toList());
  }

  static Options parse(List<String> arguments) {
    boolean quick = false;
    Set<Workload> only = EnumSet.allOf(Workload.class);
    String variants = "";
    Set<SubjectKind> subjects = EnumSet.allOf(SubjectKind.class);
    boolean named = false;
    int rounds = 0;
    Path jdk = Path.of(System.getProperty("java.home"));
    Path out = null;
    boolean into = false;
    Deque<String> rest = new ArrayDeque<>(arguments);
    while (!rest.isEmpty()) {
      String option = rest.pop();
      switch (option) {
        case "--quick" -> quick = true;
        case "--only" -> only = set(Workload.class, value(option, rest), Workload::of);
        case "--variants" -> variants = value(option, rest);
        case "--subjects" -> {
          subjects = set(SubjectKind.class, value(option, rest), SubjectKind::of);
          named = true;
        }
        case "--rounds" -> rounds = rounds(value(option, rest));
        case "--jdk" -> jdk = jdk(value(option, rest));
        case "--out", "--into" -> {
          out = Path.of(value(option, rest));
          into = option.equals("--into");
        }
        default -> throw new IllegalArgumentException("unknown option: " + option);
      }
    }
    return new Options(quick, only, variants, subjects, named, rounds, jdk, out, into);
  }

  private static String value(String option, Deque<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException(option + ": a value is missing");
    }
    return rest.pop();
  }

  private static <E extends Enum<E>> Set<E> set(
      Class<E> type, String words, Function<String, E> of) {
    Set<E> set = EnumSet.noneOf(type);
    for (String word : words.split(",", -1)) {
      set.add(of.apply(word.strip()));
    }
    return set;
  }

  private static int rounds(String word) {
    if (!word.matches("[1-9][0-9]{0,3}")) {
      throw new IllegalArgumentException("--rounds: " + word + " (expected: 1 to 9999)");
    }
    return Integer.parseInt(word);
  }

  private static Path jdk(String word) {
    Path home = Path.of(word);
    if (!Files.isExecutable(java(home))) {
      throw new IllegalArgumentException("--jdk: " + word + " (expected: the home of a JDK)");
    }
    return home;
  }

  static Path java(Path jdk) {
    String name = System.getProperty("os.name").startsWith("Windows") ? "java.exe" : "java";
    return jdk.resolve("bin").resolve(name);
  }
}
