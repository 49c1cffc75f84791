// SPDX-License-Identifier: Apache-2.0

/**
 * Sends requests to the targets of timers over HTTP, by the rules of <a
 * href="https://www.standardwebhooks.com">Standard Webhooks</a>. The entry is {@link
 * io.timewheel.server.webhook.WebhookHandler}, the handler of all timers that have a URL.
 *
 * <p>A <em>target</em> receives a timer's firings; {@code StoredTarget} stores it in the headers of
 * the timer. A <em>call</em> is one such request, by {@code WebhookClient}. It is signed with the
 * <em>secret</em> that the target names, from {@code WebhookSecrets}. {@code DeliverySlots} shares
 * the slots of calls between namespaces and hosts. The <em>address policy</em> decides which
 * addresses a call may connect to.
 *
 * <p>{@code WebhookAnswer} distinguishes success, failure, a target that no longer exists, and a
 * target that asks for a later retry. {@code WebhookHandler} ends the attempt accordingly. The
 * engine decides about another attempt ({@code RetryRule}), as for any handler.
 *
 * <p>Read {@code WebhookTarget}, {@code StoredTarget}, {@code WebhookClient}, {@code WebhookAnswer}
 * and {@code WebhookHandler} in this order.
 */
@NullMarked
package io.timewheel.server.webhook;

import org.jspecify.annotations.NullMarked;
