// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** Encodes the page tokens of lists that are ordered by name. */
public final class PageToken {
  private PageToken() {}

  /** {@return a token for the page of a list after a name} */
  public static String of(String list, String last) {
    String text = list + "\n" + last; // names contain no control characters
    return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(UTF_8));
  }

  /**
   * {@return the name after which a page begins; empty for the first page}
   *
   * @param list the name of the list; a token of another list is refused
   */
  public static String parse(String list, @Nullable String token) {
    if (token == null) {
      return "";
    }
    try {
      String text = new String(Base64.getUrlDecoder().decode(token), UTF_8);
      String last = text.substring(text.lastIndexOf('\n') + 1);
      if (of(list, last).equals(token)) {
        return last;
      }
    } catch (IllegalArgumentException e) {
      // refused below
    }
    throw Query.wrong("pageToken", token, "the nextPageToken of this list");
  }
}
