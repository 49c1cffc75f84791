// SPDX-License-Identifier: Apache-2.0

/**
 * Calls the targets of timers over HTTP, as <a href="https://www.standardwebhooks.com">Standard
 * Webhooks</a> says.
 *
 * <p>A <em>target</em> is where a timer's firings are posted to. A <em>call</em> is one attempt to
 * do so; it is signed with the <em>secret</em> that the target names. The <em>address policy</em>
 * decides which addresses a call may connect to.
 */
@NullMarked
package io.timewheel.server.webhook;

import org.jspecify.annotations.NullMarked;
