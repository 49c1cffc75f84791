// SPDX-License-Identifier: Apache-2.0
package io.timewheel.spring.boot;

/** What the guide's {@link Orders} keeps with a timer. */
record OrderRef(long number) {}
