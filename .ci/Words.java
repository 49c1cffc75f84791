// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Counts turns of phrase that readers find hard, in the comments and strings of Java files, in
 * Markdown, in the OpenAPI description and in the console. CONTRIBUTING.md describes the rules.
 *
 * <p>The file {@code .ci/words.limits} contains the number of hits of each module. A module fails
 * the check if it has more hits, and also if it has fewer, until {@code --record} lowers the limit.
 * No option raises a limit.
 *
 * <p>A line is exempt if it contains the marker {@code words:} and a reason.
 */
final class Words {
  private static final List<Pattern> EVERYWHERE =
      List.of(
          Pattern.compile("\\b[Ww]hat (is|was|has|had|comes|fires|failed|waits|runs|must|may)\\b"),
          Pattern.compile("(^|[.;:|] )(Who|Whoever|Whatever)\\b"),
          Pattern.compile(
              "\\b(but for|beside|anew|any more|for ever|in vain|mend|as it comes|in good"
                  + " order)\\b"),
          Pattern.compile(
              "\\b(docs?|page|ADR|test|column|file|server|store|log)\\W+"
                  + "(says|tells|knows|believes|wants|bears)\\b"),
          Pattern.compile("\\bas (many|much) .{0,30} as (may|fits)\\b"),
          Pattern.compile("\"(description|summary)\": \"(It|They|Of|That|Those|From)\\b"));

  /** In core, threads may be parked. */
  private static final Pattern DURABLE_ONLY =
      Pattern.compile("\\b(set aside|parked|upkeep|way there and back|the program)\\b");

  private static final Pattern DURABLE_PATH =
      Pattern.compile(
          "(durable|server|examples/(orders|shop))/.*"
              + "|docs/(concepts\\.md|operate/.*"
              + "|(guides/(spring|recurring|webhooks)|tutorials/(embedded|postgresql|http))\\.md"
              + "|migrate/durable\\.md|internals/adr/001[0-9].*"
              + "|internals/benchmarks/(cluster|consumers|durable|server).*)");

  private static final Pattern EXEMPT = Pattern.compile("\\bwords: \\w.*");
  private static final Set<String> TEXTS = Set.of("md", "json", "html", "js", "ftl");
  private static final Set<String> SKIPPED = Set.of("target", ".git", "node_modules", ".idea");

  private final Path root;
  private final Map<String, List<String>> hits = new TreeMap<>();

  private Words(Path root) {
    this.root = root;
  }

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    String option = args.length > 1 ? args[1] : "";
    if (!Set.of("", "--record", "--list").contains(option) || args.length > 2) {
      System.err.println("usage: .ci/words [--list | --record]");
      System.exit(2);
    }
    Words words = new Words(root);
    words.readAll();
    if (option.equals("--list")) {
      words.hits.values().forEach(lines -> lines.forEach(System.out::println));
      return;
    }
    Path file = root.resolve(".ci/words.limits");
    boolean passed = words.compare(file);
    if (option.equals("--record")) {
      passed = words.record(file);
    }
    System.exit(passed ? 0 : 1);
  }

  private void readAll() throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes a) {
            return SKIPPED.contains(directory.getFileName().toString())
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
            read(file);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  private void read(Path file) throws IOException {
    String path = root.relativize(file).toString().replace('\\', '/');
    String extension = path.substring(path.lastIndexOf('.') + 1);
    boolean isJava = extension.equals("java");
    if (!isJava && !TEXTS.contains(extension) || path.equals(".ci/Words.java")) {
      return;
    }
    String text = Files.readString(file);
    String[] source = text.split("\n", -1);
    String[] prose = (isJava ? proseOf(text) : text).split("\n", -1);
    boolean isDurable = DURABLE_PATH.matcher(path).matches();
    String module = moduleOf(file);
    List<String> lines = hits.computeIfAbsent(module, any -> new ArrayList<>());
    for (int i = 0; i < prose.length; i++) {
      String line = prose[i].strip().replaceFirst("^(/?\\*+|//+|[-*>|#]+) *", "");
      if (isHit(line, isDurable) && !EXEMPT.matcher(source[i]).find()) {
        lines.add(path + ":" + (i + 1) + ": " + source[i].strip());
      }
    }
  }

  private static boolean isHit(String line, boolean isDurable) {
    return EVERYWHERE.stream().anyMatch(pattern -> pattern.matcher(line).find())
        || isDurable && DURABLE_ONLY.matcher(line).find();
  }

  /** Returns the nearest directory with a pom.xml. The root is divided by its directories. */
  private String moduleOf(Path file) {
    for (Path at = file.getParent(); !at.equals(root); at = at.getParent()) {
      if (Files.exists(at.resolve("pom.xml"))) {
        return root.relativize(at).toString().replace('\\', '/');
      }
    }
    Path relative = root.relativize(file);
    return relative.getNameCount() == 1 ? "." : relative.getName(0).toString();
  }

  /**
   * Returns the comments and strings of a Java file, each at its line. Everything else is blank.
   */
  private static String proseOf(String java) {
    StringBuilder prose = new StringBuilder(java.length());
    String end = ""; // of the current comment or string
    for (int i = 0; i < java.length(); i++) {
      char c = java.charAt(i);
      if (end.isEmpty()) {
        String begin = beginAt(java, i);
        end = endOf(begin);
        prose.append(c == '\n' ? '\n' : ' ');
        i += Math.max(0, begin.length() - 1);
      } else if (java.startsWith(end, i)) {
        prose.append(c == '\n' ? '\n' : ' ');
        i += end.length() - 1;
        end = "";
      } else if (c == '\\' && end.startsWith("\"")) {
        prose.append(' ');
        i++; // the escaped character
      } else {
        prose.append(c);
      }
    }
    return prose.toString();
  }

  private static String beginAt(String java, int i) {
    for (String begin : List.of("//", "/*", "\"\"\"", "\"", "'\\''", "'\"'")) {
      if (java.startsWith(begin, i)) {
        return begin;
      }
    }
    return "";
  }

  private static String endOf(String begin) {
    return switch (begin) {
      case "//" -> "\n";
      case "/*" -> "*/";
      case "\"\"\"", "\"" -> begin;
      default -> "";
    };
  }

  /** Returns whether each module has as many hits as its limit. */
  private boolean compare(Path file) throws IOException {
    Map<String, Integer> limits = limits(file);
    boolean same = true;
    int total = 0;
    for (var module : hits.entrySet()) {
      int count = module.getValue().size();
      int limit = limits.getOrDefault(module.getKey(), 0);
      total += count;
      if (count != limit) {
        same = false;
        System.out.printf("words: %s has %d hits (limit: %d)%n", module.getKey(), count, limit);
      }
    }
    System.out.printf(
        "words: %d hits%s%n",
        total,
        same ? "" : ". \".ci/words --list\" lists them; \".ci/words --record\" lowers the limits");
    return same;
  }

  /** Lowers the limits. Writes the first ones if there are none. */
  private boolean record(Path file) throws IOException {
    boolean isFirst = !Files.exists(file);
    Map<String, Integer> limits = limits(file);
    StringBuilder text = new StringBuilder();
    boolean lower = true;
    for (var module : hits.entrySet()) {
      int count = module.getValue().size();
      int limit = isFirst ? count : limits.getOrDefault(module.getKey(), 0);
      lower &= count <= limit;
      if (Math.min(count, limit) > 0) {
        text.append(module.getKey()).append(' ').append(Math.min(count, limit)).append('\n');
      }
    }
    Files.writeString(file, text);
    return lower;
  }

  private static Map<String, Integer> limits(Path file) {
    Map<String, Integer> limits = new TreeMap<>();
    if (Files.exists(file)) {
      try {
        for (String line : Files.readAllLines(file)) {
          String[] words = line.split(" ");
          limits.put(words[0], Integer.parseInt(words[1]));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return limits;
  }
}
