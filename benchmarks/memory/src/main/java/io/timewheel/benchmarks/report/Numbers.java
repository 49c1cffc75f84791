// SPDX-License-Identifier: Apache-2.0
package io.timewheel.benchmarks.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** Formats numbers with three significant digits, and never fewer than the integer part has. */
final class Numbers {
  private static final MathContext THREE_DIGITS = new MathContext(3, RoundingMode.HALF_UP);

  private Numbers() {}

  static String text(double value) {
    if (Double.isInfinite(value)) {
      return value > 0 ? "∞" : "−∞";
    }
    if (Math.abs(value) < 1e-4) {
      return "0";
    }
    if (Math.abs(value) >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", value).replace('-', '−');
    }
    BigDecimal exact = BigDecimal.valueOf(value);
    BigDecimal rounded = exact.round(THREE_DIGITS);
    if (value == Math.rint(value)) {
      rounded = exact.setScale(0, RoundingMode.UNNECESSARY);
    } else if (rounded.precision() < 3) {
      rounded =
          rounded.setScale(rounded.scale() + 3 - rounded.precision(), RoundingMode.UNNECESSARY);
    }
    return rounded.toPlainString().replace('-', '−');
  }
}
