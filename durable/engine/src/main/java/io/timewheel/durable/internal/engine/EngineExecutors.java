// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.internal.commit.StoreTasks;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The executors of an engine.
 *
 * @param store those of reads, upkeep and claims
 * @param commits one for each commit lane
 * @param outcomes where the engine is told of its commits
 * @param handlers where attempts run
 */
public record EngineExecutors(
    StoreTasks.Executors store, List<Executor> commits, Executor outcomes, Executor handlers) {}
