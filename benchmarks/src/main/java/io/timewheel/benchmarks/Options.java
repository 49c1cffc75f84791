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
 * What the command line asks for.
 *
 * @param quick whether minutes must do
 * @param only these workloads
 * @param variants of these only those whose name contains this
 * @param subjects these subjects
 * @param named whether the subjects were named, so that one that this JVM lacks is a mistake
 * @param rounds how often each, or 0 for what the plan says
 * @param jdk the home of the JDK that is measured
 * @param out the file for the results, or null for a name with the date
 * @param into whether that file has results already, of which those measured now are replaced
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
      Usage: benchmarks/run [--quick] [--only WORKLOAD,...] [--variants TEXT] [--subjects SUBJECT,...]
                            [--rounds N] [--jdk HOME] [--out FILE | --into FILE]

      Measures Timewheel beside its peers, each measurement in a JVM of its own, and prints tables.

        --quick      takes minutes: one short round, without the largest variants and some subjects
        --only       measures these workloads only: %s
        --variants   measures only those variants of the workloads whose names contain this text
        --subjects   measures these subjects only: %s
        --rounds     repeats each measurement so often, instead of what the plan says
        --jdk        measures the JDK in this directory, instead of the one that runs this
        --out        writes the raw results to this file, instead of one in benchmarks/results
        --into       the same, and keeps what the file has of the variants that are not measured now

      The figures are worth nothing if the machine has something else to do.
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
