import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import express from 'express'
import { expect, it } from 'vitest'
import { listen } from '../../src/http/index.js'

const drainTimeoutMs = 5000

/** Starts a server whose answers take a moment, and a client with one kept-alive connection to it. */
async function startServer() {
  const app = express().post('/', async (_request, response) => {
    await delay(20)
    response.end('done')
  })
  const server = await listen(app, '127.0.0.1', 0, drainTimeoutMs)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const post = async () => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method: 'POST', host: '127.0.0.1', port: server.port, agent }
      request(options, resolve).on('error', reject).end()
    })
    return [await text(answer), answer.headers.connection]
  }
  return { server, post }
}

it('a request on a kept-alive connection to a closing server is answered, and is the last one there', async () => {
  const { server, post } = await startServer()
  expect(await post()).toEqual(['done', 'keep-alive'])
  const closed = server.close()
  expect(await post()).toEqual(['done', 'close'])
  await closed
  await expect(post()).rejects.toThrow('ECONNREFUSED')
})

it('a server closes unused connections long before the time limit of active requests', async () => {
  const { server, post } = await startServer()
  await post()
  const beforeMs = performance.now()
  await server.close()
  expect(performance.now() - beforeMs).toBeLessThan(drainTimeoutMs / 2)
})

it('a busy server that closes answers or refuses each connection, and resets none', async () => {
  let closed: Promise<void> | undefined
  const app = express().post('/', (_request, response) => {
    closed ??= server.close()
    const endMs = performance.now() + 20
    while (performance.now() < endMs);
    response.end('done')
  })
  // The server stops listening after 100 ms at the earliest, in the middle of the requests.
  const server = await listen(app, '127.0.0.1', 0, 20_000)
  const workerData = { url: `http://127.0.0.1:${server.port}/`, requests: 20, everyMs: 5 }
  const client = new Worker(new URL('./fixtures/posts.mjs', import.meta.url), { workerData })
  const [answers] = await once(client, 'message')
  expect(answers[0]).toBe('done')
  // A proxy repeats a refused connection, but not a request that was sent.
  expect(new Set(['done', 'ECONNREFUSED', ...answers])).toEqual(new Set(['done', 'ECONNREFUSED']))
  await closed
})
