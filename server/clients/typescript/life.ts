// SPDX-License-Identifier: Apache-2.0
// The life of a timer by the generated client: created, read, claimed, acked and cancelled.
import assert from 'node:assert/strict';
import { client } from './generated/client.gen';
import {
  ack,
  cancelTimer,
  claim,
  getTimer,
  listQueues,
  previewSchedule,
  putTimer,
} from './generated/sdk.gen';
import type { TimerRequest } from './generated/types.gen';

const ns = 'clients';
const queue = 'typescript';
const id = 'typescript/1';
const throwOnError = true;

async function live(): Promise<void> {
  client.setConfig({ baseUrl: process.argv[2] });

  const request: TimerRequest = { after: 'PT0S', target: { queue }, payload: { order: 42 } };

  const created = await putTimer({ path: { ns, id }, body: request, throwOnError });
  assert.equal(created.data.id, id);
  const read = await getTimer({ path: { ns, id }, throwOnError });
  assert.equal(read.data.version, created.data.version);
  assert.equal(read.data.target.queue, queue);

  const claimed = await claim({
    path: { ns, queue },
    body: { max: 1, wait: 'PT20S', leaseDuration: 'PT30S' },
    throwOnError,
  });
  assert.equal(claimed.data.firings.length, 1);
  const firing = claimed.data.firings[0]!;
  assert.deepEqual(firing.payload, { order: 42 });
  const queues = await listQueues({ path: { ns }, throwOnError });
  assert.equal(queues.data.queues.find((each) => each.name === queue)?.running, 1);
  await ack({
    path: { ns, fireId: firing.fireId },
    body: { leaseToken: firing.leaseToken },
    throwOnError,
  });
  const acked = await getTimer({ path: { ns, id }, throwOnError });
  assert.equal(acked.data.state, 'completed');

  const second = { ns, id: 'typescript/2' };
  await putTimer({
    path: second,
    body: { cron: '0 9 * * MON-FRI', zone: 'Europe/Berlin', target: { queue } },
    headers: { 'If-None-Match': '*' },
    throwOnError,
  });
  const cancelled = await cancelTimer({ path: second, throwOnError });
  assert.equal(cancelled.data.outcome, 'cancelled');
  const preview = await previewSchedule({ body: { every: 'PT1H', count: 3 }, throwOnError });
  assert.equal(preview.data.next.length, 3);
  const missing = await getTimer({ path: { ns, id: 'none' } });
  assert.equal(missing.error?.type, 'urn:timewheel:problem:not_found');
  console.log('typescript: created, read, claimed, acked and cancelled');
}

live().catch((error) => {
  console.error(error);
  process.exit(1);
});
