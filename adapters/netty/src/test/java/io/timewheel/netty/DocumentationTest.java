// SPDX-License-Identifier: Apache-2.0
package io.timewheel.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The documentation shows what is compiled. */
class DocumentationTest {
  private static final Pattern SNIPPET =
      Pattern.compile(" *// begin: [^\\n]*\\n(.*?)\\n *// end", Pattern.DOTALL);

  @Test
  void everySnippetIsInTheGuide() throws IOException {
    String code = Files.readString(Path.of("src/test/java/io/timewheel/netty/MigratingTest.java"));
    String guide = Files.readString(Path.of("../../docs/MIGRATING.md"));
    List<String> snippets = new ArrayList<>();
    for (Matcher found = SNIPPET.matcher(code); found.find(); ) {
      snippets.add(found.group(1).stripIndent().strip());
    }

    assertThat(snippets).hasSize(4).allSatisfy(snippet -> assertThat(guide).contains(snippet));
  }
}
