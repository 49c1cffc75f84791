// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.webhook;

import io.timewheel.server.settings.SecretFile;
import io.timewheel.server.settings.WatchedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The secrets of a file, each a line: a name, and what signs. While a secret is rotated its line
 * has two, and calls bear the signatures of both.
 *
 * <p>The file is {@linkplain WatchedFile looked at} with every call, so a rotation needs no
 * restart. No error shows a secret.
 */
public final class WebhookSecrets {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
  private static final int MAX_PER_NAME = 2;

  private final WatchedFile<Map<String, List<WebhookSecret>>> file;

  private WebhookSecrets(Path path) throws IOException {
    file = new WatchedFile<>(path, WebhookSecrets::read);
  }

  /**
   * Opens a file of secrets.
   *
   * @param file where it is
   * @return the secrets
   * @throws IOException if it cannot be read, says what cannot be, or is open to others
   */
  public static WebhookSecrets open(Path file) throws IOException {
    return new WebhookSecrets(file);
  }

  /**
   * Finds what signs by a name.
   *
   * @param name the name
   * @return what signs; nothing if no secret has this name
   */
  public List<WebhookSecret> find(String name) {
    return file.content().getOrDefault(name, List.of());
  }

  private static Map<String, List<WebhookSecret>> read(SecretFile file) throws IOException {
    Map<String, List<WebhookSecret>> secrets = new LinkedHashMap<>();
    int number = 0;
    for (String line : file.read().lines().map(String::strip).toList()) {
      number++;
      if (!line.isEmpty() && !line.startsWith("#")) {
        try {
          String[] words = line.split("\\s+");
          if (secrets.putIfAbsent(name(words[0]), secrets(words)) != null) {
            throw new IllegalArgumentException("the name " + words[0] + " comes twice");
          }
        } catch (IllegalArgumentException e) {
          throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
        }
      }
    }
    return secrets;
  }

  private static String name(String word) {
    if (!NAME.matcher(word).matches() || word.startsWith("whsec_")) {
      throw new IllegalArgumentException(
          "name (expected: letters, digits and . _ -, 64 at most, in front of the secret)");
    }
    return word;
  }

  private static List<WebhookSecret> secrets(String[] words) {
    if (words.length < 2 || words.length > 1 + MAX_PER_NAME) {
      throw new IllegalArgumentException(
          (words.length - 1) + " secrets (expected: one, or two while it is rotated)");
    }
    List<WebhookSecret> secrets = new ArrayList<>();
    for (int i = 1; i < words.length; i++) {
      secrets.add(WebhookSecret.parse(words[i]));
    }
    return List.copyOf(secrets);
  }
}
