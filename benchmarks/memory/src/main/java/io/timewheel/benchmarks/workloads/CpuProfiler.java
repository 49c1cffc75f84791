// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.workloads;

import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.ScalarResult;

/** Measures the CPU time of the whole process per operation, including the timer thread. */
public final class CpuProfiler implements InternalProfiler {
  static final String LABEL = "cpu.norm";

  private CpuTime began = CpuTime.now();

  @Override
  public String getDescription() {
    return "CPU time of the process for each operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    began = CpuTime.now();
  }

  @Override
  public Collection<ScalarResult> afterIteration(
      BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
    long cpuNanos = CpuTime.now().since(began);
    long operations = Math.max(1, result.getMetadata().getAllOps());
    return List.of(
        new ScalarResult(LABEL, (double) cpuNanos / operations, "ns/op", AggregationPolicy.AVG));
  }
}
