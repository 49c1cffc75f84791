// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.WatchedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The secrets of a file, one per line. A line contains a name, the namespaces and hosts that may
 * use the secret, and {@code whsec_…} or {@code header=} and the value of a header. During a
 * rotation, a line contains two {@code whsec_…}, and requests have the signatures of both.
 *
 * <p>The file is {@linkplain WatchedFile checked} at every request, so a rotation needs no restart.
 * No error contains a secret.
 */
public final class WebhookSecrets implements SecretSource {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final Pattern LINE =
      Pattern.compile("(\\S+)((?:\\s+(?:namespace|host)=\\S*)*)\\s*(.*)");
  private static final Pattern HEADER_VALUE = Pattern.compile("[\\x21-\\x7e][\\t\\x20-\\x7e]*");
  private static final String HEADER = "header=";
  private static final int MAX_HEADER_VALUE = 8 * 1_024;
  private static final int MAX_KEYS = 2;

  private final WatchedFile<Map<String, ConfiguredSecret>> file;

  private WebhookSecrets(Path path) throws IOException {
    file = new WatchedFile<>(path, List.of(), WebhookSecrets::read, InstantSource.system());
  }

  /**
   * Opens a file of secrets.
   *
   * @throws IOException if it cannot be read, has a malformed line, or is readable for other users
   */
  public static WebhookSecrets open(Path file) throws IOException {
    return new WebhookSecrets(file);
  }

  @Override
  public @Nullable ConfiguredSecret find(String name) {
    return file.content().get(name);
  }

  private static Map<String, ConfiguredSecret> read(SecretFile file) throws IOException {
    Map<String, ConfiguredSecret> secrets = new LinkedHashMap<>();
    int number = 0;
    for (String line : file.read().lines().map(String::strip).toList()) {
      number++;
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          add(secrets, line);
        } catch (IllegalArgumentException e) {
          throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
        }
      }
    }
    return secrets;
  }

  private static void add(Map<String, ConfiguredSecret> secrets, String line) {
    Matcher parts = LINE.matcher(line);
    if (!parts.matches() || !NAME.matcher(parts.group(1)).matches() || line.startsWith("whsec_")) {
      throw new IllegalArgumentException(
          "name (expected: letters, digits and . _ -, at most 64, before the secret)");
    }
    String name = parts.group(1);
    Set<String> namespaces = words(parts.group(2), "namespace=");
    Set<String> hosts = words(parts.group(2), "host=");
    String value = parts.group(3);
    ConfiguredSecret secret =
        value.startsWith(HEADER)
            ? new ConfiguredSecret(
                List.of(), headerValue(value.substring(HEADER.length())), namespaces, hosts)
            : new ConfiguredSecret(keys(value), value.split("\\s+", 2)[0], namespaces, hosts);
    if (secrets.putIfAbsent(name, secret) != null) {
      throw new IllegalArgumentException("name (expected: another one than on the lines before)");
    }
  }

  private static Set<String> words(String restrictions, String name) {
    Set<String> words = new LinkedHashSet<>();
    for (String restriction : restrictions.strip().split("\\s+", -1)) {
      if (restriction.startsWith(name)) {
        for (String word : restriction.substring(name.length()).split(",", -1)) {
          if (word.isEmpty()) {
            throw new IllegalArgumentException(name + " (expected: words, separated by commas)");
          }
          words.add(word);
        }
      }
    }
    return words;
  }

  private static String headerValue(String text) {
    String value = text.strip();
    if (value.length() > MAX_HEADER_VALUE || !HEADER_VALUE.matcher(value).matches()) {
      throw new IllegalArgumentException(
          "header= (expected: printable ASCII, at most " + MAX_HEADER_VALUE + " characters)");
    }
    return value;
  }

  private static List<WebhookSecret> keys(String value) {
    String[] words = value.isEmpty() ? new String[0] : value.split("\\s+", -1);
    if (words.length == 0 || words.length > MAX_KEYS) {
      throw new IllegalArgumentException(
          words.length + " secrets (expected: one, or two while it is rotated)");
    }
    List<WebhookSecret> keys = new ArrayList<>();
    for (String word : words) {
      keys.add(WebhookSecret.parse(word));
    }
    return keys;
  }
}
