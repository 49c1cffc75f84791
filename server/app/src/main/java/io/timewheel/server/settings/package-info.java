// SPDX-License-Identifier: Apache-2.0

/**
 * Settings, secrets and logs of the server and of its clients. The entry is {@link
 * io.timewheel.server.settings.Settings}, which finds a setting in the environment and in the file
 * of properties. {@code SecretFile} reads a file that only its owner and group may read, and {@code
 * WatchedFile} reads it again after a change. {@code ServerConfig} contains the address and the
 * limits of a server, and {@code WorkLimits} the limits of its work. {@code Ingress} is the path of
 * requests to the server. {@code Limits} are those of queues, hosts and namespaces. {@code
 * LogOutput} configures the logs. {@code TlsFiles} names the certificate and the key that {@code
 * PemFile} reads; {@code Cidr} is a block of addresses.
 */
@NullMarked
package io.timewheel.server.settings;

import org.jspecify.annotations.NullMarked;
