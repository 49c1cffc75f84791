// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server;

import io.timewheel.server.Route.Role;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/** Finds out who asks, and whether they may. */
final class Callers {
  private static final Pattern BEARER =
      Pattern.compile("bearer +([a-z0-9._~+/-]+=*) *", Pattern.CASE_INSENSITIVE);

  private final @Nullable Tokens tokens;

  Callers(@Nullable Tokens tokens) {
    this.tokens = tokens;
  }

  /** {@return who asks; without tokens, everyone who reaches this server may do everything} */
  Caller of(Request request) {
    if (tokens == null) {
      return Caller.LOCAL;
    }
    List<String> shown = request.getHeaders().getValuesList(HttpHeader.AUTHORIZATION);
    if (shown.isEmpty()) {
      throw unauthorized("no token (expected: Authorization: Bearer …)", "");
    }
    Matcher bearer = BEARER.matcher(shown.get(0));
    Caller caller = shown.size() == 1 && bearer.matches() ? tokens.caller(bearer.group(1)) : null;
    if (caller == null) {
      throw invalidToken();
    }
    return caller;
  }

  static Problem.Failure invalidToken() {
    return unauthorized("the token is not one of this server", ", error=\"invalid_token\"");
  }

  private static Problem.Failure unauthorized(String detail, String error) {
    return Problem.of(401, "unauthorized", detail)
        .header("WWW-Authenticate", "Bearer realm=\"timewheel\"" + error)
        .failure();
  }

  static void check(Caller caller, Role role) {
    if (caller.role().compareTo(role) < 0) {
      throw Problem.of(
              403,
              "forbidden",
              "the token does not allow it (expected: one of the role "
                  + role.name().toLowerCase(Locale.ROOT)
                  + ")")
          .failure();
    }
  }
}
