// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import com.fasterxml.jackson.annotation.JsonAnyGetter;
import com.fasterxml.jackson.annotation.JsonAnySetter;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A refusal (RFC 9457).
 *
 * @param type a URN that identifies the kind of problem
 * @param title the reason phrase of the status
 * @param status the HTTP status
 * @param detail the problem, the value and the limit
 * @param field the path of the field at fault, such as {@code retry.backoff}
 * @param more further members
 */
public record ProblemDetails(
    @Nullable String type,
    @Nullable String title,
    int status,
    @Nullable String detail,
    @Nullable String field,
    @JsonAnyGetter @JsonAnySetter Map<String, Object> more) {}
