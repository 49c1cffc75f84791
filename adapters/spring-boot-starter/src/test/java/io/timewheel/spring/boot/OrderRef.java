// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

/** The payload of the timers of the guide's {@link Orders}. */
record OrderRef(long number) {}
