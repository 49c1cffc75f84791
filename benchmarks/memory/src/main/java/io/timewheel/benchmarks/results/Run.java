// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.results;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of one subject under one variant of a workload. Exactly one of the last three
 * components is present.
 *
 * @param workload its name
 * @param variant of the workload
 * @param subject the ID of a {@link SubjectInfo}
 * @param round counted from 0
 * @param position in the order of this round, counted from 0
 * @param metrics the figures by name, if it was measured
 * @param absent why the subject takes no part in this workload
 * @param failed the failure
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Run(
    String workload,
    String variant,
    String subject,
    int round,
    int position,
    @Nullable Map<String, Double> metrics,
    @Nullable String absent,
    @Nullable String failed) {
  /** {@return the name of the measurement: the workload and the variant} */
  public String name() {
    return workload + ", " + variant;
  }
}
