// SPDX-License-Identifier: Apache-2.0
package io.timewheel.server.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.timewheel.api.BatchItem;
import io.timewheel.api.RawJson;
import io.timewheel.api.TimerRequest;
import io.timewheel.server.problem.Problem;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonReaderTest {
  private record Batch(@Nullable List<Object> timers) {}

  /** Parses a batch that arrives in parts of three bytes. */
  private static List<Parsed<BatchItem>> timers(String text) {
    Elements elements = new Elements();
    byte[] bytes = text.getBytes(UTF_8);
    for (int at = 0; at < bytes.length; at += 3) {
      elements.accept(ByteBuffer.wrap(bytes, at, Math.min(3, bytes.length - at)));
    }
    return elements.convert(Batch.class, "timers", BatchItem.class, "id", timer -> timer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "{\"color\":1}                                | 400 | color",
        "{\"target\":{\"queue\":\"q\",\"color\":1}}   | 400 | target.color",
        "{\"after\":\"PT1S\",\"after\":\"PT2S\"}      | 400 | after",
        "{\"headers\":{\"a\":\"b\",\"a\":\"b\"}}      | 400 | headers.a",
        "{\"target\":{\"headers\":{\"a\":null}}}      | 400 | target.headers.a",
        "{\"target\":\"\"}                            | 400 | target",
        "{\"target\":[{}]}                            | 400 | target",
        "{\"zone\":1}                                 | 400 | zone",
        "{\"after\":1}                                | 400 | after",
        "{\"after\":\"\"}                             | 422 | after",
        "{\"at\":\"noon\"}                            | 422 | at",
        "{\"retry\":{\"maxAttempts\":\"5\"}}          | 400 | retry.maxAttempts",
        "{\"retry\":{\"maxAttempts\":5.0}}            | 400 | retry.maxAttempts",
        "{\"retry\":{\"maxAttempts\":5000000000}}     | 422 | retry.maxAttempts",
        "{} {}                                        | 400 | -",
        "[]                                           | 400 | -",
        "{\"after\":                                  | 400 | -",
      })
  void aRefusalNamesItsField(String text, int status, @Nullable String field) {
    Problem problem =
        requireNonNull(
                catchThrowableOfType(
                    Problem.Failure.class, () -> JsonReader.read(text, TimerRequest.class)))
            .problem();

    assertThat(problem.status()).isEqualTo(status);
    assertThat(problem.field()).isEqualTo(field);
  }

  @Test
  void aPayloadKeepsItsText() {
    String payload = "{\"a\" : 1.50, \"a\":\n[ ]}";

    TimerRequest timer =
        JsonReader.read("{\"payload\": " + payload + " ,\"zone\":null}", TimerRequest.class);

    assertThat(timer.payload()).isEqualTo(new RawJson(payload));
    assertThat(timer.zone()).isNull();
  }

  @Test
  void aPayloadOfNullIsNotAbsent() {
    assertThat(JsonReader.read("{\"payload\":null}", TimerRequest.class).payload())
        .isEqualTo(new RawJson("null"));
    assertThat(JsonReader.read("{}", TimerRequest.class).payload()).isNull();
  }

  @Test
  void anElementIsRefusedAlone() {
    List<Parsed<BatchItem>> timers =
        timers(
            """
            {"timers":[
              {"id":"a","payload":{"x":1}},
              {"id":"b","target":{"headers":{"h":{"deep":[1]}},"queue":"q"},"zone":"UTC"},
              {"id":"c","id":"d","id":"e"},
              {"id":"f","retry":{"maxAttempts":5000000000}},
              7, [{"id":"g"}], null,
              {"id":"h","color":{"x":1},"payload":[2]},
              {"id":"i","payload":[3],"ifMatch":4}
            ]}\
            """);

    assertThat(timers)
        .map(timer -> timer.value() == null ? null : timer.value().id())
        .containsExactly("a", null, null, null, null, null, null, null, "i");
    assertThat(timers)
        .map(timer -> timer.problem() == null ? null : timer.problem().field())
        .containsExactly(
            null,
            "target.headers.h.deep",
            "id",
            "retry.maxAttempts",
            null,
            null,
            null,
            "color",
            null);
    assertThat(timers)
        .map(Parsed::id)
        .containsExactly(null, "b", "c", "f", null, null, null, "h", null);
    BatchItem last = requireNonNull(timers.get(8).value());
    assertThat(last.payload()).isEqualTo(new RawJson("[3]"));
    assertThat(last.ifMatch()).isEqualTo("\"4\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"timers\":[{}                     | 400",
        "{\"timers\":[{}]                    | 400",
        "{\"timers\":[{}]} {}                | 400",
        "{\"timers\":[{}}]                   | 400",
        "{\"timers\":[{},]}                  | 400",
        "{\"timers\":[,{}]}                  | 400",
        "{\"timers\":[{} {}]}                | 400",
        "{\"timers\":[{\"x\":[}]}]}          | 400",
        "{\"timers\":[{\"x\":tru},{}]}       | 400",
        "{\"timers\":[7,[tru]]}              | 400",
        "{\"timers\":[{}],\"timers\":[{}]}   | 400",
        "{\"timers\":[{}],\"x\":[{}]}        | 400",
        "{\"timers\":{\"a\":{}}}             | 400",
        "[{\"timers\":[{}]}]                 | 400",
        "{\"timers\":[ ]}                    | 422",
        "{\"timers\":null}                   | 422",
        "{}                                  | 422",
      })
  void aBatchIsRefusedAsAWhole(String text, int status) {
    Problem problem =
        requireNonNull(catchThrowableOfType(Problem.Failure.class, () -> timers(text))).problem();

    assertThat(problem.status()).isEqualTo(status);
  }

  @Test
  void theElementThatIsNotJsonIsNamed() {
    assertThatThrownBy(() -> timers("{\"timers\":[{},{\"id\":}]}"))
        .hasMessageStartingWith("timers[1]: not JSON at line 1, column 7");
  }

  @Test
  void bracketsInTextsSeparateNoElements() {
    List<Parsed<BatchItem>> timers =
        timers(
            "{ \"timers\" :\n"
                + "[ {\"id\":\"],\\\"}{\\\\\"} , {\"payload\": {\"]\" : [ \"}\" ]} } ] }");

    assertThat(timers).hasSize(2);
    assertThat(requireNonNull(timers.get(0).value()).id()).isEqualTo("],\"}{\\");
    assertThat(requireNonNull(timers.get(1).value()).payload())
        .isEqualTo(new RawJson("{\"]\" : [ \"}\" ]}"));
  }

  @Test
  void anElementThatIsTooLargeIsRefusedAlone() {
    String large = "{\"id\":\"a\",\"payload\":\"" + "€".repeat(90_000) + "\"}";

    List<Parsed<BatchItem>> timers = timers("{\"timers\":[" + large + ",{\"id\":\"b\"}]}");

    assertThat(timers).map(Parsed::id).containsExactly("a", null);
    assertThat(requireNonNull(timers.get(0).problem()).status()).isEqualTo(413);
    assertThat(requireNonNull(timers.get(1).value()).id()).isEqualTo("b");
  }

  @Test
  void anObjectOfTooManyNamesIsRefused() {
    String headers =
        IntStream.rangeClosed(0, JsonReader.MAX_NAMES)
            .mapToObj(number -> "\"" + number + "\":\"\"")
            .collect(Collectors.joining(","));
    String timer = "{\"id\":\"a\",\"headers\":{" + headers + "}}";

    List<Parsed<BatchItem>> timers = timers("{\"timers\":[" + timer + ",{\"id\":\"b\"}]}");

    Problem problem = requireNonNull(timers.get(0).problem());
    assertThat(problem.status()).isEqualTo(422);
    assertThat(problem.field()).isEqualTo("headers");
    assertThat(problem.detail()).isEqualTo("headers: too many fields (expected: at most 100)");
    assertThat(requireNonNull(timers.get(1).value()).id()).isEqualTo("b");
  }
}
