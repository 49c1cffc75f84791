// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.timewheel.benchmarks.subjects.SubjectKind;
import io.timewheel.benchmarks.workloads.Workload;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static Options parse(String... arguments) {
    return Options.parse(List.of(arguments));
  }

  @Test
  void withoutArgumentsEverythingIsMeasured() {
    Options options = parse();

    assertThat(options.quick()).isFalse();
    assertThat(options.only()).containsExactly(Workload.values());
    assertThat(options.variants()).isEmpty();
    assertThat(options.subjects()).containsExactly(SubjectKind.values());
    assertThat(options.named()).isFalse();
    assertThat(options.rounds()).isZero();
    assertThat(options.out()).isNull();
  }

  @Test
  void everythingCanBeChosen() {
    String home = System.getProperty("java.home");

    Options options =
        parse(
            "--quick",
            "--only",
            "gc,churn",
            "--variants",
            "6M",
            "--subjects",
            "netty42,timewheel",
            "--rounds",
            "7",
            "--jdk",
            home,
            "--out",
            "here.json");

    assertThat(options.quick()).isTrue();
    assertThat(options.only()).containsExactly(Workload.CHURN, Workload.GC);
    assertThat(options.variants()).isEqualTo("6M");
    assertThat(options.subjects()).containsExactly(SubjectKind.TIMEWHEEL, SubjectKind.NETTY42);
    assertThat(options.named()).isTrue();
    assertThat(options.rounds()).isEqualTo(7);
    assertThat(options.jdk()).isEqualTo(Path.of(home));
    assertThat(options.out()).isEqualTo(Path.of("here.json"));
    assertThat(options.into()).isFalse();
    assertThat(parse("--into", "here.json").into()).isTrue();
    assertThat(parse("--into", "here.json").out()).isEqualTo(Path.of("here.json"));
  }

  @Test
  void invalidOptionIsNamed() {
    assertThatThrownBy(() -> parse("--fast")).hasMessage("unknown option: --fast");
    assertThatThrownBy(() -> parse("--only", "chrun")).hasMessage("unknown workload: chrun");
    assertThatThrownBy(() -> parse("--subjects", "")).hasMessage("unknown subject: ");
    assertThatThrownBy(() -> parse("--rounds")).hasMessage("--rounds: a value is missing");
    assertThatThrownBy(() -> parse("--rounds", "0"))
        .hasMessage("--rounds: 0 (expected: 1 to 9999)");
    assertThatThrownBy(() -> parse("--jdk", "/nowhere"))
        .hasMessage("--jdk: /nowhere (expected: the home of a JDK)");
  }

  @Test
  void usageNamesEveryWorkloadAndSubject() {
    for (Workload workload : Workload.values()) {
      assertThat(Options.USAGE).contains(workload.id());
    }
    for (SubjectKind subject : SubjectKind.values()) {
      assertThat(Options.USAGE).contains(subject.id());
    }
  }
}
