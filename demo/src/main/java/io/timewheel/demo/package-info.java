// SPDX-License-Identifier: Apache-2.0

/** Six million timeouts on one timer, with a summary to read. */
@NullMarked
package io.timewheel.demo;

import org.jspecify.annotations.NullMarked;
