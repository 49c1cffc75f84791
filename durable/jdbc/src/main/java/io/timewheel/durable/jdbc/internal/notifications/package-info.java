// SPDX-License-Identifier: Apache-2.0

/**
 * Notifications, by which nodes notify each other. The entry is {@link
 * io.timewheel.durable.jdbc.internal.notifications.NotificationChannel}, which sends and receives.
 * {@code Notifications} is the text of a notification, and {@code NotificationThread} waits for
 * notifications of other nodes.
 */
@NullMarked
package io.timewheel.durable.jdbc.internal.notifications;

import org.jspecify.annotations.NullMarked;
