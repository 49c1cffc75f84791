// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.internal.attempt.HandlerQueue;
import io.timewheel.durable.internal.attempt.PrefixHandlers;
import io.timewheel.durable.model.StackTraces;
import io.timewheel.durable.model.TimerKey;
import io.timewheel.durable.spi.SharedLimit;
import java.time.Duration;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an engine.
 *
 * @param handlers the handlers by name; more may be added until the start
 * @param families the handlers for prefixes; more may be added until the start
 * @param queueLimits the present limit of a queue, or null
 * @param stackTraces the failed attempts whose stack traces are logged
 * @param client true if the engine owns no shards, so that it fires and purges no timers
 */
public record EngineSettings(
    Map<String, HandlerQueue.Config> handlers,
    Map<String, PrefixHandlers.Config> families,
    int queueCapacity,
    boolean refuseWhenFull,
    int maxWindow,
    int overduePerSecond,
    Duration retain,
    long retainAtMost,
    Function<TimerKey, @Nullable SharedLimit> queueLimits,
    StackTraces stackTraces,
    boolean client,
    DoubleSupplier random) {}
