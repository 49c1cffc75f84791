// SPDX-License-Identifier: Apache-2.0
package io.timewheel.agent;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.HashedWheelTimer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/** Tests the decision about a timer, without an agent in this JVM. */
class TimerTransformerTest {
  private static final String NETTY = "io/netty/util/HashedWheelTimer";
  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final TimerTransformer transformer = transformer("");
  private final Map<String, byte[]> files = new HashMap<>();

  private final ClassLoader loader =
      new ClassLoader(HashedWheelTimer.class.getClassLoader()) {
        @Override
        public InputStream getResourceAsStream(String name) {
          byte[] file = files.get(name);
          return file == null ? super.getResourceAsStream(name) : new ByteArrayInputStream(file);
        }
      };

  private TimerTransformer transformer(String options) {
    return new TimerTransformer(
        new Agent(Options.parse(options), new PrintStream(lines, true, UTF_8)));
  }

  private byte @Nullable [] load(String name) throws IOException {
    return load(transformer, name, file(name));
  }

  private byte @Nullable [] load(TimerTransformer by, String name, byte[] file) {
    return by.transform(loader, name, null, null, file);
  }

  private byte[] file(String name) throws IOException {
    try (InputStream in = loader.getResourceAsStream(name + ".class")) {
      return in.readAllBytes();
    }
  }

  private void addClass(String name, String superName) {
    ClassWriter writer = new ClassWriter(0);
    writer.visit(Opcodes.V17, Opcodes.ACC_PUBLIC, name, null, superName, null);
    files.put(name + ".class", writer.toByteArray());
  }

  @Test
  void nestedClassesFollowTheirTimer() throws IOException {
    assertThat(load(NETTY)).isNotNull();
    assertThat(load(NETTY + "$Worker")).isNotNull();
    assertThat(load(NETTY + "$HashedWheelTimeout")).isNotNull();
    assertThat(lines.toString(UTF_8))
        .startsWith("[timewheel-agent] replaced io.netty.")
        .hasLineCount(1);
  }

  /** Another agent may have made a class file that cannot be changed. */
  @ParameterizedTest
  @CsvSource({"$Worker", "$HashedWheelTimeout"})
  void nestedClassThatCannotBeChangedIsReplacedByItsResource(String nested) throws IOException {
    load(NETTY);
    byte[] woven = load(NETTY + nested);

    assertThat(load(transformer, NETTY + nested, new byte[10])).isEqualTo(woven);
  }

  /** The timer class may have been loaded before the agent. */
  @ParameterizedTest
  @CsvSource({"$Worker", "$HashedWheelTimeout"})
  void timerWhoseNestedClassIsSeenFirstIsLeftAlone(String nested) throws IOException {
    assertThat(load(NETTY + nested)).isNull();
    assertThat(load(NETTY)).isNull();
    assertThat(load(NETTY + "$Worker")).isNull();
    assertThat(load(NETTY + "$HashedWheelTimeout")).isNull();
    assertThat(lines.toString(UTF_8))
        .contains("left alone: io.netty.util.HashedWheelTimer: the agent saw io.netty.util.")
        .hasLineCount(1);
  }

  @Test
  void timerThatAnotherCopyOfTheAgentHasChangedIsLeftAlone() throws IOException {
    byte[] woven = load(NETTY);
    TimerTransformer copy = transformer("tick=1ms");

    assertThat(load(copy, NETTY, woven)).isNull();
    assertThat(load(copy, NETTY + "$Worker", load(NETTY + "$Worker"))).isNull();
    assertThat(lines.toString(UTF_8))
        .contains("left alone: io.netty.util.HashedWheelTimer: another copy of the agent has");
  }

  /** The timer may run on Timewheel, so a line would mislead. */
  @Test
  void subclassOfATimerHasNoLine() throws IOException {
    addClass("com/example/SharedHashedWheelTimer", NETTY);
    addClass("com/example/Base", NETTY);
    addClass("com/example/OtherHashedWheelTimer", "com/example/Base");

    assertThat(load("com/example/SharedHashedWheelTimer")).isNull();
    assertThat(load("com/example/OtherHashedWheelTimer")).isNull();
    assertThat(lines.toString(UTF_8)).isEmpty();
  }

  @Test
  void otherClassWithTheNameOfATimerHasALine() throws IOException {
    addClass("com/example/HashedWheelTimer", "java/util/Random");

    assertThat(load("com/example/HashedWheelTimer")).isNull();
    assertThat(lines.toString(UTF_8)).contains("left alone: com.example.HashedWheelTimer: ");
  }

  /** The engine asks no clock for a timeout that expires. */
  @Test
  void lagIsMeasuredOnlyIfItIsReported() {
    assertThat(lag("report=none")).isNull();
    assertThat(lag("report=start")).isNull();
    assertThat(lag("report=exit")).isNotNull();
    assertThat(lag("report=compare")).isNotNull();
  }

  private @Nullable Object lag(String options) {
    Agent agent = new Agent(Options.parse(options), new PrintStream(lines, true, UTF_8));
    return agent.attach(new Object(), 1_000_000, 8, null)[1];
  }
}
