import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret } from '@switchyard/config'
import { type Database, inTransaction } from '@switchyard/db'
import { createSecretBox, createWebhook, enqueueDeliveries, type NewWebhook } from '@switchyard/webhooks'
import { webhookSecretKeys } from '../harness.js'

export const secret = 'whsec-of-the-test-receiver'

export interface ReceivedRequest {
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** Starts a receiver of webhooks. `answer` decides about each request; the first one has the number 1. */
export async function startReceiver(answer: (response: ServerResponse, number: number) => void) {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    })
    answer(response, requests.length)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    requests,
    url: `http://127.0.0.1:${port}/hook`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export const ok = (response: ServerResponse) => response.end('thanks')

export const secretBox = createSecretBox({ WEBHOOK_SECRET_KEYS: new Secret(webhookSecretKeys) })

/** Adds a webhook of sagas of the default tenant. */
export const addWebhook = (database: Database, url: string, fields: Partial<NewWebhook> = {}) =>
  createWebhook(
    database,
    { scope: 'saga', tenant: 'default' },
    {
      url,
      host: new URL(url).hostname,
      secret: secretBox.encrypt(secret),
      events: ['saga.error', 'saga.ended'],
      serviceName: null,
      enabled: true,
      createdBy: null,
      ...fields,
    },
  )

let sequence = 0

/**
 * Adds a delivery. A running worker may send it as soon as the transaction ends, so its attempts are set
 * within the transaction.
 *
 * @param attempts number of previous attempts
 */
export async function addDelivery(database: Database, webhookId: number, attempts = 0): Promise<string> {
  sequence += 1
  const payload = JSON.stringify({ event: 'test', number: sequence, text: 'ä' })
  const delivery = { webhookId, event: 'test', dedupeKey: `test-${sequence}`, payload }
  return inTransaction(database, async (transaction) => {
    const [id = ''] = await enqueueDeliveries(transaction, [delivery])
    await transaction.prisma.webhookDelivery.update({
      where: { webhookId_id: { webhookId, id } },
      data: { attempts },
    })
    return id
  })
}

export const findDelivery = (database: Database, webhookId: number, id: string) =>
  database.prisma.webhookDelivery.findUniqueOrThrow({ where: { webhookId_id: { webhookId, id } } })

/** Ends the wait for the next attempt, and the lease of its sender. */
export const makeDue = (database: Database, id: string) =>
  database.pool.query(
    `UPDATE webhook_deliveries SET next_attempt_at = now() WHERE id = $1 AND state = 'pending'`,
    [id],
  )
