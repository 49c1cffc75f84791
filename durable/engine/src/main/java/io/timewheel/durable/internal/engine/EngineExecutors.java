// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.internal.engine;

import io.timewheel.durable.internal.commit.StoreTasks;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * The executors of an engine.
 *
 * @param store the executors of reads, maintenance and claims
 * @param commits one executor for each commit lane
 * @param outcomes runs the engine's work after commits
 * @param handlers runs attempts
 */
public record EngineExecutors(
    StoreTasks.Executors store, List<Executor> commits, Executor outcomes, Executor handlers) {}
