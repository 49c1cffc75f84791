// SPDX-License-Identifier: Apache-2.0
package io.timewheel.durable.spi.format;

import static java.util.Objects.requireNonNull;

import io.timewheel.durable.model.Attempt;
import io.timewheel.durable.model.MissedRuns;
import io.timewheel.durable.model.TimerState;
import io.timewheel.durable.spi.record.Outcome;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Maps the constants of an enum to the numbers in stored records. The lists here fix the numbers,
 * independent of the order in the enum's source. New constants are appended, and none ever moves.
 *
 * @param <E> the enum
 */
public final class Codes<E extends Enum<E>> {
  /** The numbers of the states of timers. */
  public static final Codes<TimerState> STATES =
      new Codes<>(
          List.of(
              TimerState.SCHEDULED,
              TimerState.READY,
              TimerState.RUNNING,
              TimerState.RETRYING,
              TimerState.FAILED,
              TimerState.BLOCKED,
              TimerState.PAUSED,
              TimerState.COMPLETED,
              TimerState.CANCELLED));

  /** The numbers of the ends of attempts. */
  public static final Codes<Attempt.End> ENDS =
      new Codes<>(
          List.of(
              Attempt.End.SUCCEEDED,
              Attempt.End.FAILED,
              Attempt.End.LOST,
              Attempt.End.GIVEN_BACK,
              Attempt.End.RESCHEDULED,
              Attempt.End.SUPERSEDED));

  /** The numbers of the rules for missed runs. */
  public static final Codes<MissedRuns> MISSED =
      new Codes<>(List.of(MissedRuns.FIRE_ONCE, MissedRuns.FIRE_ALL, MissedRuns.SKIP));

  /** The numbers of the answers to changes. */
  public static final Codes<Outcome.Answer> ANSWERS =
      new Codes<>(
          List.of(
              Outcome.Answer.CREATED,
              Outcome.Answer.REPLACED,
              Outcome.Answer.UNCHANGED,
              Outcome.Answer.EXISTS,
              Outcome.Answer.VERSION_DIFFERS,
              Outcome.Answer.OVER_LIMIT,
              Outcome.Answer.CANCELLED,
              Outcome.Answer.RUNNING,
              Outcome.Answer.COMPLETED,
              Outcome.Answer.NOT_FOUND,
              Outcome.Answer.APPLIED,
              Outcome.Answer.WRONG_STATE,
              Outcome.Answer.HELD,
              Outcome.Answer.OUTDATED,
              Outcome.Answer.STALE_OWNER,
              Outcome.Answer.REQUEST_DIFFERS));

  private final List<E> constants;
  private final Map<E, Integer> codes;

  private Codes(List<E> constants) {
    this.constants = constants;
    codes = new EnumMap<>(constants.get(0).getDeclaringClass());
    constants.forEach(constant -> codes.put(constant, codes.size()));
  }

  /** {@return the number of constants} */
  public int size() {
    return constants.size();
  }

  /**
   * Returns the number of a constant.
   *
   * @param constant the constant
   * @return the number
   */
  public int of(E constant) {
    return requireNonNull(codes.get(constant));
  }

  /**
   * Returns the constant with a number.
   *
   * @param code the number
   * @return the constant
   * @throws IllegalArgumentException if there is none
   */
  public E at(int code) {
    if (code < 0 || code >= constants.size()) {
      throw new IllegalArgumentException(
          constants.get(0).getDeclaringClass().getSimpleName() + " " + code);
    }
    return constants.get(code);
  }
}
