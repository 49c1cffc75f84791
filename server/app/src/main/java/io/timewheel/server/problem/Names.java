// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.problem;

import java.nio.charset.StandardCharsets;

/** Checks the names of namespaces, timers, queues and handlers in requests. */
public final class Names {
  private static final int MAX_BYTES = 256;

  private Names() {}

  /**
   * {@return a received text in the form that an answer may repeat: cut, without control
   * characters}
   */
  public static String shown(String text, int maxLength) {
    String cut = text.length() > maxLength ? text.substring(0, maxLength) + "…" : text;
    StringBuilder shown = new StringBuilder(cut.length());
    cut.codePoints()
        .map(each -> Character.isISOControl(each) && each != '\n' ? '\uFFFD' : each)
        .forEach(shown::appendCodePoint);
    return shown.toString();
  }

  /** {@return the name; throws a problem if it may not be in a path} */
  public static String checked(String what, String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    boolean control = name.chars().anyMatch(Character::isISOControl);
    if (bytes == 0 || bytes > MAX_BYTES || control || name.equals(".") || name.equals("..")) {
      throw Problem.malformed(
              what
                  + ": not a name (expected: 1 to "
                  + MAX_BYTES
                  + " bytes of UTF-8 without control characters, not . or ..)")
          .at(what)
          .failure();
    }
    return name;
  }
}
