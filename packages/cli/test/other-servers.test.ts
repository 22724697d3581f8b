import type { RequestListener } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { createApi, dataOf } from '../src/api.js'
import { createProgram } from '../src/main.js'
import { serve } from './serve.js'

const said: string[] = []
const version = (url: string) =>
  dataOf(createApi({ url, token: 'glpat-secret' }, (line) => said.push(line)).GET('/version'))

describe('a limit of requests', () => {
  it('is waited for as long as the server says', async () => {
    let requests = 0
    const url = await serve((request, response) => {
      requests += 1
      expect(request.headers.authorization).toBe('Bearer glpat-secret')
      if (requests === 1)
        response.writeHead(429, { 'Retry-After': '1' }).end('{"message":"429 Too Many Requests"}')
      else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"version":"18"}')
    })
    expect(await version(url)).toEqual({ version: '18' })
    expect(said).toEqual(['the server asks to wait 1 s'])
  })

  it('is reported at once when the wait is longer than a minute', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(429, { 'Retry-After': '3600' }).end('{"message":"429 Too Many Requests"}'),
    )
    await expect(version(url)).rejects.toMatchObject({ exitCode: 7 })
  })
})

describe('a server that is not a Switchyard', () => {
  it('does not receive the token at an address that it redirects to', async () => {
    let followed = 0
    const target = await serve((_request, response) => {
      followed += 1
      response.end()
    })
    const url = await serve((_request, response) => response.writeHead(302, { Location: target }).end())
    await expect(version(url)).rejects.toMatchObject({
      exitCode: 8,
      message: expect.stringContaining(`${url} leads to ${target}`),
    })
    expect(followed).toBe(0)
  })

  it.each<[string, RequestListener]>([
    ['a page', (_request, response) => response.setHeader('Content-Type', 'text/html').end('<html>')],
    ['a page with 404', (_request, response) => response.writeHead(404).end('<html>')],
    ['nothing', (_request, response) => response.writeHead(200).end()],
    [
      'half of an answer',
      (_request, response) => {
        response.writeHead(200, { 'Content-Length': '100' }).write('{"ver')
        setImmediate(() => response.destroy())
      },
    ],
    ['no answer', (_request, response) => response.destroy()],
    ['a proxy that waits for it', (_request, response) => response.writeHead(502).end('Bad Gateway')],
  ])('is reported in a sentence: %s', async (_name, listener) => {
    await expect(version(await serve(listener))).rejects.toMatchObject({
      exitCode: 8,
      message: expect.not.stringContaining('\n'),
    })
  })
})

describe('empty arguments', () => {
  it.each(['', '.', '..'])('reach no other address of the API: "%s"', async (id) => {
    let requests = 0
    const url = await serve((_request, response) => {
      requests += 1
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]')
    })
    const api = createApi({ url, token: 'glpat-secret' }, () => {})
    await expect(dataOf(api.GET('/sagas/{id}', { params: { path: { id } } }))).rejects.toMatchObject({
      exitCode: 2,
    })
    expect(requests).toBe(0)
  })
})

describe('an identity token that is refused', () => {
  it('is reported as an identity token, because nobody signs in with it', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(401, { 'Content-Type': 'application/json' }).end('{"message":"401 Unauthorized"}'),
    )
    const api = createApi({ url, token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln' }, () => {})
    await expect(dataOf(api.GET('/version'))).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('no rule matches it'),
    })
  })
})

describe('saga watch', () => {
  it('reports the lost connection once, however long the server is away', async () => {
    const event = (id: number, outcome: string | null) =>
      `id: ${id}\ndata: ${JSON.stringify({ seq: id, saga_id: 'trip', operation: 'SagaEnded', status: 'Ended', outcome })}\n\n`
    let requests = 0
    const url = await serve((_request, response) => {
      requests += 1
      if (requests === 2) return response.destroy()
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      response.end(event(requests, requests === 1 ? null : 'succeeded'))
    })
    vi.stubEnv('SWITCHYARD_TOKEN', 'glpat-secret')
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    try {
      const program = createProgram({ version: '0' })
      await program.parseAsync(['saga', 'watch', 'trip', '--url', url], { from: 'user' })
      const lines = written.mock.calls.map(([line]) => String(line))
      expect(lines.filter((line) => line.includes('connection is lost'))).toHaveLength(1)
      expect(requests).toBe(3)
    } finally {
      vi.restoreAllMocks()
      vi.unstubAllEnvs()
    }
  })
})
