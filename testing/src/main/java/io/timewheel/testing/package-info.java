// SPDX-License-Identifier: Apache-2.0
/** The waits and the seed that the tests of all modules share. */
@NullMarked
package io.timewheel.testing;

import org.jspecify.annotations.NullMarked;
