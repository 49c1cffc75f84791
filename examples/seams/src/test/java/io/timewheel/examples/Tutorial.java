// SPDX-License-Identifier: Apache-2.0
package io.timewheel.examples;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Follows a tutorial or guide as a reader does, in an empty directory. It writes the files that the
 * page shows and runs the commands of all blocks {@code sh} in one shell. If a block {@code text}
 * follows a command, the command must print exactly this text. In the text, {@code …} matches any
 * characters.
 *
 * <p>Scripts replace Maven and {@code ./timewheel}, because the tested modules are not installed.
 * The scripts use the class path of this test.
 */
final class Tutorial {
  private static final Pattern BLOCK = Pattern.compile("(?ms)^```(\\w+)\\n(.*?)^```$");
  private static final Pattern CLASS = Pattern.compile("(?m)^public class (\\w+)");
  private static final Pattern SCRIPT = Pattern.compile("\\A# (\\w+\\.py)\\n");
  private static final String END = "END OF BLOCK ";
  private static final Duration LIMIT = Duration.ofMinutes(4);

  /** A fenced block of the page. */
  private record Block(String language, String text) {}

  private final List<Block> blocks = new ArrayList<>();
  private final Path directory;

  Tutorial(String page, Path directory) throws IOException {
    this(page, directory, Map.of());
  }

  /** Reads a page of the documents, in which some texts, such as ports, are replaced. */
  Tutorial(String page, Path directory, Map<String, String> replaced) throws IOException {
    this.directory = directory;
    String text = Files.readString(Path.of("../../docs").resolve(page));
    for (Map.Entry<String, String> each : replaced.entrySet()) {
      assertThat(text).contains(each.getKey());
      text = text.replace(each.getKey(), each.getValue());
    }
    for (MatchResult match : BLOCK.matcher(text).results().toList()) {
      blocks.add(new Block(match.group(1), match.group(2)));
    }
  }

  /** Follows the page to its end. */
  @SuppressWarnings("FutureReturnValueIgnored") // the killed shell fails the test
  void follow(Map<String, String> environment) throws IOException, InterruptedException {
    writePrograms();
    Path errors = directory.resolve("errors");
    ProcessBuilder builder = new ProcessBuilder("bash").directory(directory.toFile());
    builder.redirectError(errors.toFile());
    builder.environment().putAll(environment);
    Process shell = builder.start();
    // Interrupts do not end a read of the output, so the timeout of the test kills the shell.
    shell.onExit().orTimeout(LIMIT.toSeconds(), SECONDS).whenComplete((end, late) -> kill(shell));
    try (Writer input = shell.outputWriter(StandardCharsets.UTF_8);
        BufferedReader output = shell.inputReader(StandardCharsets.UTF_8)) {
      try {
        runBlocks(input, output, errors);
      } finally {
        // Before its input is closed, because that would end the shell but not its children.
        kill(shell);
        shell.waitFor();
      }
    }
  }

  private static void kill(Process shell) {
    List<ProcessHandle> children = shell.descendants().toList();
    shell.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
  }

  private void runBlocks(Writer input, BufferedReader output, Path errors) throws IOException {
    input.write("PATH=.:'" + Path.of(System.getProperty("java.home"), "bin") + "':$PATH\n");
    for (int i = 0; i < blocks.size(); i++) {
      Block block = blocks.get(i);
      if (!block.language().equals("sh")) {
        write(block);
        continue;
      }
      // Redirects the input of commands, which must not read the script.
      input.write("{\n" + block.text() + "} </dev/null\necho \"\n" + END + "$?\"\n");
      input.flush();
      String printed = readBlock(output);
      if (i + 1 < blocks.size() && blocks.get(i + 1).language().equals("text")) {
        assertThat(printed)
            .as("%s\n%s", block.text(), Files.readString(errors))
            .matches(expected(blocks.get(i + 1).text()));
      } else {
        assertThat(printed)
            .as("%s\n%s", block.text(), Files.readString(errors))
            .endsWith(END + "0");
      }
    }
  }

  /** Creates scripts that replace Maven and the launcher, which would build the modules again. */
  private void writePrograms() throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String classPath = System.getProperty("java.class.path");
    writeProgram(
        "mvn",
        "[ \"$*\" = '-q dependency:build-classpath -Dmdep.outputFile=cp.txt' ]\n"
            + "echo '"
            + classPath
            + "' > cp.txt\n");
    writeProgram(
        "timewheel",
        "exec "
            + java
            + " -XX:TieredStopAtLevel=1 -cp '"
            + classPath
            + "' io.timewheel.server.cli.Main \"$@\"\n");
  }

  private void writeProgram(String name, String script) throws IOException {
    Path file = directory.resolve(name);
    Files.writeString(file, "#!/bin/sh\nset -e\n" + script);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  private static String readBlock(BufferedReader output) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      text.append(line);
      if (line.startsWith(END)) {
        break;
      }
      text.append('\n');
    }
    return text.toString();
  }

  private static String expected(String text) {
    return "(?s)"
        + Stream.of(text.strip().split("…", -1))
            .map(Pattern::quote)
            .collect(Collectors.joining(".*"))
        + "\\s*"
        + END
        + "\\d+";
  }

  /** Writes the file that a block shows. Ignores a block that shows no file. */
  private void write(Block block) throws IOException {
    String name =
        switch (block.language()) {
          case "java" -> first(CLASS, block.text(), ".java");
          case "python" -> first(SCRIPT, block.text(), "");
          case "xml" -> "pom.xml";
          default -> "";
        };
    if (!name.isEmpty()) {
      Files.writeString(directory.resolve(name), block.text());
    }
  }

  /** Returns the first match with a suffix, or an empty text. */
  private static String first(Pattern pattern, String text, String suffix) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? matcher.group(1) + suffix : "";
  }

  /** Skips the test, and states the reason, if a program that the reader needs is absent. */
  static void assumeInstalled(String program) {
    boolean installed =
        Pattern.compile(File.pathSeparator)
            .splitAsStream(System.getenv("PATH"))
            .anyMatch(path -> Files.isExecutable(Path.of(path, program)));
    assumeTrue(installed, () -> program + " is not installed");
  }

  /** {@return a port on which no program listens} */
  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** {@return the text of the blocks in a language} */
  List<String> texts(String language) {
    return blocks.stream().filter(b -> b.language().equals(language)).map(Block::text).toList();
  }
}
