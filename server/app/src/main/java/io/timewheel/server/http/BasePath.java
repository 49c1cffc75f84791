// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import org.jspecify.annotations.Nullable;

/**
 * The prefix of all paths of the API.
 *
 * @param prefix the path, such as {@code /timers}; empty for none
 */
record BasePath(String prefix) {
  /** {@return the rest of a path, which may be empty; null if the path has another prefix} */
  @Nullable String strip(@Nullable String path) {
    String sent = path == null ? "" : path;
    if (!sent.startsWith(prefix)) {
      return null;
    }
    String rest = sent.substring(prefix.length());
    return prefix.isEmpty() || rest.isEmpty() || rest.startsWith("/") ? rest : null;
  }

  /** {@return whether a stripped path is the path of the console, with or without its slash} */
  boolean isConsole(@Nullable String stripped) {
    return stripped != null && (stripped.equals("/") || isRoot(stripped));
  }

  /** {@return whether a path lacks the final slash that the relative URLs of the console need} */
  boolean isRoot(String stripped) {
    return stripped.isEmpty() && !prefix.isEmpty();
  }
}
