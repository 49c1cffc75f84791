// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.timewheel.benchmarks.report.Measurements.Variant;
import io.timewheel.benchmarks.results.SubjectInfo;
import io.timewheel.benchmarks.workloads.Workload;
import org.junit.jupiter.api.Test;

class MeasurementsTest {
  private static final Variant CHURN = new Variant(Workload.CHURN, "1 thread");
  private static final Variant IDLE = new Variant(Workload.IDLE, "6M pending");

  private static Recordings churn(Recordings recordings, String subject, double... operations) {
    return recordings.values("churn", "1 thread", subject, "opsPerSecond", operations);
  }

  private static Recordings idle(Recordings recordings, String subject, double... wakeUps) {
    return recordings.values("idle", "6M pending", subject, "wakeups", wakeUps);
  }

  @Test
  void valuesAreInTheUnitThatIsShown() {
    Recordings recordings = churn(Recordings.of("netty42"), "netty42", 3e6, 1e6, 2e6);

    assertThat(recordings.measurements().values(CHURN, "netty42", Metrics.OPERATIONS))
        .contains(new Spread(2, 1, 3, 3));
  }

  @Test
  void quotientsAreTakenWithinARoundAndNotOfMedians() {
    Recordings recordings = Recordings.of("timewheel", "netty42");
    churn(recordings, "timewheel", 10, 40, 60);
    churn(recordings, "netty42", 10, 80, 20);

    // The medians are 40 and 20, the quotients 1, 1/2 and 3.
    assertThat(recordings.measurements().advantage(CHURN, Metrics.OPERATIONS, "netty42"))
        .contains(new Spread(1, 0.5, 3, 3));
  }

  @Test
  void advantageAboveOneIsBetterForEveryMetric() {
    Recordings recordings = Recordings.of("timewheel", "netty42");
    churn(recordings, "timewheel", 10);
    churn(recordings, "netty42", 20);
    idle(recordings, "timewheel", 10);
    idle(recordings, "netty42", 20);
    Measurements measurements = recordings.measurements();

    assertThat(measurements.advantage(CHURN, Metrics.OPERATIONS, "netty42").orElseThrow().median())
        .isEqualTo(0.5);
    assertThat(measurements.advantage(IDLE, Metrics.WAKE_UPS, "netty42").orElseThrow().median())
        .isEqualTo(2);
  }

  @Test
  void roundsInWhichOneIsMissingAreNotCompared() {
    Recordings recordings = Recordings.of("timewheel", "netty42");
    churn(recordings, "timewheel", 10, 20, 30);
    recordings
        .failed("churn", "1 thread", "netty42", 0, "bad luck")
        .value("churn", "1 thread", "netty42", 1, "opsPerSecond", 10)
        .value("churn", "1 thread", "netty42", 2, "bytesPerOp", 10);

    assertThat(recordings.measurements().advantage(CHURN, Metrics.OPERATIONS, "netty42"))
        .contains(new Spread(2, 2, 2, 1));
  }

  @Test
  void severalTurnsInARoundCountAsTheirMedian() {
    Recordings recordings = Recordings.of("timewheel");
    churn(churn(churn(recordings, "timewheel", 1e6, 7e6), "timewheel", 2e6, 8e6), "timewheel", 3e6);

    assertThat(recordings.measurements().values(CHURN, "timewheel", Metrics.OPERATIONS))
        .contains(new Spread(4.75, 2, 7.5, 2));
  }

  @Test
  void zeroAgainstZeroIsADraw() {
    Recordings recordings = Recordings.of("timewheel", "netty42", "stpe");
    idle(recordings, "timewheel", 0);
    idle(recordings, "netty42", 0);
    idle(recordings, "stpe", 5);
    Measurements measurements = recordings.measurements();

    assertThat(measurements.advantage(IDLE, Metrics.WAKE_UPS, "netty42").orElseThrow().median())
        .isEqualTo(1);
    assertThat(measurements.advantage(IDLE, Metrics.WAKE_UPS, "stpe").orElseThrow().median())
        .isInfinite();
  }

  @Test
  void bestPeerIsTheOneAgainstWhichWeDoWorst() {
    Recordings recordings =
        Recordings.of("timewheel", "timewheel-hashed", "netty42", "stpe", "agrona", "floor");
    churn(recordings, "timewheel", 10, 20);
    churn(recordings, "timewheel-hashed", 100, 100);
    churn(recordings, "agrona", 100, 100);
    churn(recordings, "floor", 100, 100);
    churn(recordings, "netty42", 5, 5);
    churn(recordings, "stpe", 6, 6);

    assertThat(recordings.measurements().bestPeer(CHURN, Metrics.OPERATIONS).map(SubjectInfo::id))
        .contains("stpe");
  }

  @Test
  void invalidRecordingsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> churn(Recordings.of("timewheel"), "netty42", 1).measurements())
        .withMessage("the recording does not introduce its subject netty42");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                Recordings.of("timewheel")
                    .absent("tea", "1 cup", "timewheel", 0, "no milk")
                    .measurements())
        .withMessage("unknown workload: tea");
  }
}
