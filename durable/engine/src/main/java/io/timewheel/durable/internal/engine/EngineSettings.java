// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.PrefixHandlers;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.SharedLimit;
import java.time.Duration;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The limits and choices of an engine.
 *
 * @param handlers the handlers by name, which may grow until the start
 * @param families the handlers for prefixes, which may grow until the start
 * @param queueLimits the present limit of a queue, or null
 * @param client whether the engine takes no shards: it fires nothing, and purges nothing
 */
public record EngineSettings(
    Map<String, HandlerQueue.Config> handlers,
    Map<String, PrefixHandlers.Config> families,
    int queueCapacity,
    boolean refuseWhenFull,
    int maxWindow,
    int overduePerSecond,
    Duration remember,
    long rememberAtMost,
    Function<TimerKey, @Nullable SharedLimit> queueLimits,
    boolean client,
    DoubleSupplier random) {}
