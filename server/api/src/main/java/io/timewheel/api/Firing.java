// SPDX-License-Identifier: Apache-2.0
package io.timewheel.api;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A due timer under a claim lease.
 *
 * @param fireId the ID of the run, the same for all its attempts
 * @param namespace the namespace of the timer
 * @param id the ID of the timer
 * @param version the version of the timer
 * @param attempt the number of the attempt, from 1
 * @param scheduledAt the scheduled time of the run
 * @param firedAt the time of the claim
 * @param late whether the claim was more than a second after the scheduled time
 * @param payload the payload
 * @param payloadBase64 the payload in Base64, if it is not JSON
 * @param headers the headers of the timer
 * @param leaseToken the token with which a consumer ends or extends the claim lease
 * @param leasedUntil the expiry of the claim lease
 */
public record Firing(
    String fireId,
    String namespace,
    String id,
    long version,
    int attempt,
    Instant scheduledAt,
    Instant firedAt,
    boolean late,
    @Nullable RawJson payload,
    @Nullable String payloadBase64,
    Map<String, String> headers,
    String leaseToken,
    Instant leasedUntil) {}
