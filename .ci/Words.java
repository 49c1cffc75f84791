// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Finds turns of phrase that readers find hard, in the comments and strings of Java files, and in
 * Markdown, OpenAPI, the console, SQL and configuration. CONTRIBUTING.md describes the rules.
 *
 * <p>Each hit fails the check.
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
              + "|internals/benchmarks/(cluster|durable|server).*)");

  private static final Set<String> TEXTS =
      Set.of(
          "md", "json", "html", "js", "ftl", "sql", "yml", "xml", "sh", "properties", "conf", "txt");
  private static final Set<String> SKIPPED = Set.of("target", ".git", "node_modules", ".idea");

  private final Path root;
  private int hits;

  private Words(Path root) {
    this.root = root;
  }

  public static void main(String[] args) throws IOException {
    Words words = new Words(Path.of(args[0]));
    words.readAll();
    System.out.println("words: " + words.hits + " hits");
    System.exit(words.hits == 0 ? 0 : 1);
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
    boolean isScript = !file.getFileName().toString().contains(".") && Files.isExecutable(file);
    if (!isJava && !isScript && !TEXTS.contains(extension) || path.equals(".ci/Words.java")) {
      return;
    }
    String text = Files.readString(file);
    String[] source = text.split("\n", -1);
    String[] prose = (isJava ? proseOf(text) : text).split("\n", -1);
    boolean isDurable = DURABLE_PATH.matcher(path).matches();
    for (int i = 0; i < prose.length; i++) {
      String line = prose[i].strip().replaceFirst("^(/?\\*+|//+|[-*>|#]+) *", "");
      if (isHit(line, isDurable)) {
        hits++;
        System.out.println(path + ":" + (i + 1) + ": " + source[i].strip());
      }
    }
  }

  private static boolean isHit(String line, boolean isDurable) {
    return EVERYWHERE.stream().anyMatch(pattern -> pattern.matcher(line).find())
        || isDurable && DURABLE_ONLY.matcher(line).find();
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
}
