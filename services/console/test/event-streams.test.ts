import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { launchBrowser } from '@switchyard/testing'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const source = fileURLToPath(new URL('../web/src/lib/use-event-stream.ts', import.meta.url))

/** A page that follows a stream with the code of the console, and shows its state and events. */
const page = `
import { createElement, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { useEventStream } from ${JSON.stringify(source)}

function Page() {
  const [events, setEvents] = useState([])
  const onEvents = (more) => setEvents((before) => [...before, ...more])
  const state = useEventStream({ path: '/tried/stream', resumeBy: 'after', onEvents })
  return createElement('p', null, [state, ...events].join(' '))
}
createRoot(document.getElementById('page')).render(createElement(Page))
`

async function bundlePage(): Promise<string> {
  const entry = fileURLToPath(new URL('page.js', import.meta.url))
  const built = await build({
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'page',
        enforce: 'pre',
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? page : null),
      },
    ],
    build: { write: false, lib: { entry, formats: ['iife'], name: 'page' } },
  })
  const [{ output }] = built as unknown as [{ output: { code: string }[] }]
  return output[0]?.code ?? ''
}

const browser = await launchBrowser()
const pairs: [Socket, Socket][] = []
const streams = new Set<ServerResponse>()
/** Positions at which clients have begun. */
const begun: (string | null)[] = []
let script: string
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x')
  if (pathname === '/page.js') return response.setHeader('Content-Type', 'text/javascript').end(script)
  if (pathname !== '/api/v4/tried/stream')
    return response
      .setHeader('Content-Type', 'text/html')
      .end('<!doctype html><div id="page"></div><script src="/page.js"></script>')
  begun.push(searchParams.get('after'))
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  response.write(`id: ${begun.length}\ndata: ${begun.length}\n\n`)
  streams.add(response)
})
/** A proxy that can stop forwarding without closing connections. */
const proxy = createTcpServer((client) => {
  const service = connect((server.address() as AddressInfo).port, '127.0.0.1')
  pairs.push([client, service])
  client.pipe(service).pipe(client)
  for (const socket of [client, service]) socket.on('error', () => {})
})

describe.skipIf(!browser)('a stream in the console', () => {
  beforeAll(async () => {
    script = await bundlePage()
    for (const each of [server, proxy]) {
      each.listen(0, '127.0.0.1')
      await once(each, 'listening')
    }
  })
  afterAll(async () => {
    await browser?.close()
    for (const socket of pairs.flat()) socket.destroy()
    proxy.close()
    server.closeAllConnections()
    server.close()
  })

  it('stays open while pings arrive, and is reopened at its last position after 30 seconds of silence', async () => {
    const tab = await browser?.newPage()
    await tab?.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`)
    const shown = () => tab?.locator('p').textContent()
    await expect.poll(shown).toBe('live 1')
    let pingsSent = 0
    const pings = setInterval(() => {
      pingsSent += 1
      for (const stream of streams) stream.write('event: ping\nid: 7\ndata: {}\n\n')
    }, 10_000)
    // This is longer than the silence that ends a stream.
    await expect.poll(() => pingsSent).toBe(4)
    expect(begun).toEqual([null])
    for (const [client, service] of pairs) {
      client.unpipe(service)
      service.unpipe(client)
    }
    await expect.poll(shown).toBe('live 1 2')
    clearInterval(pings)
    // The client begins at the position of the last ping.
    expect(begun).toEqual([null, '7'])
  })
})
