// SPDX-License-Identifier: Apache-2.0

/** Where settings and secrets come from: for the server and for its clients. */
@NullMarked
package io.timewheel.server.settings;

import org.jspecify.annotations.NullMarked;
