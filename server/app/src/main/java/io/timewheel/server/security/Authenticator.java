// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.security;

import io.timewheel.server.problem.Problem;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the caller of a request by its token. */
public final class Authenticator {
  private static final Pattern BEARER =
      Pattern.compile("bearer +([a-z0-9._~+/-]+=*) *", Pattern.CASE_INSENSITIVE);

  private final @Nullable Tokens tokens;

  /** Creates an authenticator. Without tokens, every request has all permissions. */
  public Authenticator(@Nullable Tokens tokens) {
    this.tokens = tokens;
  }

  /** {@return the caller, or the refusal, for these Authorization headers} */
  public Authentication authenticate(List<String> credentials) {
    if (tokens == null) {
      return new Authentication(Caller.LOCAL, null);
    }
    if (credentials.isEmpty()) {
      return refused(unauthorized("no token (expected: Authorization: Bearer …)", ""));
    }
    Matcher bearer = BEARER.matcher(credentials.get(0));
    if (credentials.size() != 1 || !bearer.matches()) {
      return refused(invalidToken());
    }
    String token = bearer.group(1);
    Caller caller = tokens.caller(token);
    if (caller != null) {
      return new Authentication(caller, null);
    }
    Instant expiry = tokens.expiry(token);
    return refused(
        expiry == null
            ? invalidToken()
            : unauthorized("the token expired at " + expiry, ", error=\"invalid_token\""));
  }

  private static Authentication refused(Problem refusal) {
    return new Authentication(null, refusal);
  }

  public static Problem invalidToken() {
    return unauthorized("this server has no such token", ", error=\"invalid_token\"");
  }

  private static Problem unauthorized(String detail, String error) {
    return Problem.of(401, "unauthorized", detail)
        .header("WWW-Authenticate", "Bearer realm=\"timewheel\"" + error);
  }
}
