// SPDX-License-Identifier: Apache-2.0

/** A demonstration with six million timeouts on one timer, and a readable summary. */
@NullMarked
package io.timewheel.demo;

import org.jspecify.annotations.NullMarked;
