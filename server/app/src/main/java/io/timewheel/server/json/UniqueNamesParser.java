// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.SerializableString;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.sym.PropertyNameMatcher;
import tools.jackson.core.util.JsonParserDelegate;

/**
 * Refuses an object with a duplicate name, or with too many names. The parser does not check values
 * that are skipped, because a payload is stored unchanged.
 */
final class UniqueNamesParser extends JsonParserDelegate {
  /** The names so far of the object at each depth. */
  private final List<Set<String>> names = new ArrayList<>();

  private final int maxNames;

  /** Thrown at the first name above the limit of an object. */
  static final class TooManyNamesException extends StreamReadException {
    private static final long serialVersionUID = 1;

    TooManyNamesException(JsonParser parser) {
      super(parser, "too many names");
    }
  }

  /** Thrown at a duplicate name. */
  static final class DuplicateNameException extends StreamReadException {
    private static final long serialVersionUID = 1;

    DuplicateNameException(JsonParser parser) {
      super(parser, "duplicate name");
    }
  }

  /** Creates a parser that limits the names of an object. */
  UniqueNamesParser(JsonParser parser, int maxNames) {
    super(parser);
    this.maxNames = maxNames;
  }

  @Override
  public JsonToken nextToken() {
    JsonToken token = delegate.nextToken();
    if (token == JsonToken.START_OBJECT) {
      while (names.size() <= depth()) {
        names.add(Set.of());
      }
      names.set(depth(), new HashSet<>());
    } else if (token == JsonToken.PROPERTY_NAME) {
      Set<String> present = names.get(depth());
      if (!present.add(delegate.currentName())) {
        throw new DuplicateNameException(this);
      }
      if (present.size() > maxNames) {
        throw new TooManyNamesException(this);
      }
    }
    return token;
  }

  private int depth() {
    return delegate.streamReadContext().getNestingDepth();
  }

  @Override
  public @Nullable String nextName() {
    return nextToken() == JsonToken.PROPERTY_NAME ? delegate.currentName() : null;
  }

  @Override
  public boolean nextName(SerializableString name) {
    return name.getValue().equals(nextName());
  }

  @Override
  public int nextNameMatch(PropertyNameMatcher matcher) {
    String name = nextName();
    if (name != null) {
      return matcher.matchName(name);
    }
    return hasToken(JsonToken.END_OBJECT)
        ? PropertyNameMatcher.MATCH_END_OBJECT
        : PropertyNameMatcher.MATCH_ODD_TOKEN;
  }
}
