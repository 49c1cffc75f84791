// SPDX-License-Identifier: Apache-2.0

/**
 * Connections, and the steps of a request. No class here depends on an operation of the API. The
 * entry is {@link io.timewheel.server.http.RequestPipeline}, which runs the steps of each request
 * in this order: accept, authenticate, route, authorise, parse, engine and answer.
 *
 * <p>Read it in the order of the steps:
 *
 * <ol>
 *   <li>{@code HttpListener} and {@code Connections} accept connections and limit them, {@code
 *       TlsContext} reloads the certificate, {@code OriginCheck} refuses foreign hosts and origins,
 *       {@code ClientAddress} finds the client behind proxies, {@code ErrorResponder} answers
 *       requests that are not HTTP
 *   <li>{@code BasePath} is the prefix of all paths; {@code Router} finds the {@code Route} of a
 *       path, and its {@code Action}
 *   <li>{@code ApiRequest} is the authorised request, {@code Exchange} its answer and {@code
 *       Deadline} the deadline of the answer; {@code Exchange} gives reads and writes their turn
 *       and deadline in one place
 *   <li>{@code Body} describes the body of a write; {@code BodyReader}, {@code Query}, {@code
 *       PageToken} and {@code PercentDecoder} read the parts of a request
 *   <li>{@code WorkQueue} runs work that may block, with one queue for each kind of {@code Work};
 *       in its {@code FairQueue}, callers take turns
 *   <li>{@code AnswerWriter} writes large answers, {@code ByteBudget} limits the memory of bodies
 *       and of answers, {@code BodyMemory} holds that of one body; {@code FairLimit} limits the
 *       number of claims, streams and connections
 *   <li>{@code IdempotencyKey} is the key by which the store recognises a repeated request; {@code
 *       HangupWatch} detects that a waiting client has disconnected
 * </ol>
 */
@NullMarked
package io.timewheel.server.http;

import org.jspecify.annotations.NullMarked;
