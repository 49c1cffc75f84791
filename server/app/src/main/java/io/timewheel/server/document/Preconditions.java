// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.document;

import io.timewheel.durable.TimerInfo;
import io.timewheel.durable.TimerSpec;
import io.timewheel.server.http.ApiRequest;
import io.timewheel.server.problem.Problem;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpHeader;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates If-Match and If-None-Match. The engine compares one version atomically with the change.
 * If the header lists several versions or is {@code *}, this class reads the timer first, and
 * passes its version to the engine. If it matches none, this class passes a version that the engine
 * refuses, unless it has answered the same request before. A header without a tag of this server is
 * refused at once.
 */
public final class Preconditions {
  private static final Pattern TAGS = Pattern.compile("\\G\\s*+(W/)?\"([^\"]*+)\"\\s*+(,|$)");

  /** Longer than any header may be. The field of a batch has no other limit. */
  private static final int MAX_LENGTH = 16 * 1024;

  /** No timer has this version. */
  private static final long NO_VERSION = Long.MAX_VALUE;

  private final boolean absent;
  private final boolean any;
  private final boolean given;
  private final Set<Long> versions;

  private Preconditions(boolean absent, boolean given, boolean any, Set<Long> versions) {
    this.absent = absent;
    this.given = given;
    this.any = any;
    this.versions = versions;
  }

  public static Preconditions of(ApiRequest request) {
    return of(request.header(HttpHeader.IF_MATCH), request.header(HttpHeader.IF_NONE_MATCH));
  }

  public static Preconditions of(@Nullable String ifMatch, @Nullable String ifNoneMatch) {
    if (ifNoneMatch != null && !ifNoneMatch.strip().equals("*")) {
      throw wrong("If-None-Match", "*");
    }
    if (ifNoneMatch != null && ifMatch != null) {
      throw wrong("If-Match", "not together with If-None-Match");
    }
    boolean any = ifMatch != null && ifMatch.strip().equals("*");
    Set<Long> versions = ifMatch == null || any ? Set.of() : versions(ifMatch);
    return new Preconditions(ifNoneMatch != null, ifMatch != null, any, versions);
  }

  private static Set<Long> versions(String tags) {
    if (tags.length() > MAX_LENGTH) {
      throw wrong("If-Match", "at most " + MAX_LENGTH + " characters");
    }
    Set<Long> versions = new LinkedHashSet<>();
    Matcher matcher = TAGS.matcher(tags);
    int end = 0;
    while (matcher.find()) {
      end = matcher.end();
      // A weak tag never matches, nor does a tag that this server never returned.
      if (matcher.group(1) == null && matcher.group(2).matches("[1-9][0-9]{0,17}")) {
        versions.add(Long.valueOf(matcher.group(2)));
      }
    }
    if (end != tags.length()) {
      throw wrong("If-Match", "\"version\"");
    }
    return versions;
  }

  private static Problem.Failure wrong(String header, String expected) {
    return Problem.malformed(header + " (expected: " + expected + ")").at(header).failure();
  }

  /**
   * Refuses a request without If-Match, which could overwrite a change that its client has not
   * seen.
   */
  public Preconditions required() {
    if (!given) {
      throw Problem.of(
              412,
              "precondition_required",
              "If-Match: is missing (expected: the ETag of the timer)")
          .at("If-Match")
          .failure();
    }
    return this;
  }

  /** Adds the precondition to a schedule request, which may be a repeated one. */
  public void apply(TimerSpec spec, Supplier<Optional<TimerInfo>> current) {
    if (absent) {
      spec.onlyIfAbsent();
    } else if (any) {
      spec.onlyIfVersion(current.get().map(TimerInfo::version).orElse(NO_VERSION));
    } else if (given) {
      spec.onlyIfVersion(listed(current));
    }
  }

  /** {@return the version that an operation requires; 0 for any, also if the timer is absent} */
  public long version(Supplier<Optional<TimerInfo>> current) {
    if (absent) {
      throw wrong("If-None-Match", "not here");
    }
    if (any) {
      return current.get().map(TimerInfo::version).orElse(0L);
    }
    return given ? listed(current) : 0;
  }

  private long listed(Supplier<Optional<TimerInfo>> current) {
    if (versions.isEmpty()) {
      throw failed();
    }
    long first = versions.iterator().next();
    if (versions.size() == 1) {
      return first;
    }
    return current.get().map(TimerInfo::version).filter(versions::contains).orElse(first);
  }

  private static Problem.Failure failed() {
    return Problem.of(412, "precondition_failed", "the timer has another version, or is absent")
        .failure();
  }
}
