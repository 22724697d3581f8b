import type { RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { loginByBrowser } from '../src/browser-login.js'
import { serve } from './serve.js'

let written: string[]
beforeEach(() => {
  written = []
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0)
})
afterEach(() => {
  vi.restoreAllMocks()
})

const codes = {
  device_code: 'device-secret',
  user_code: 'WDJB-MJHT',
  verification_uri: 'https://sy.example.com/console/device',
  expires_in: 600,
  interval: 0.01,
}

/**
 * Returns a server that issues codes, and then gives one answer after the other to requests for the token.
 */
function answering(answers: [status: number, body: object][], begun: object = codes): RequestListener {
  const waiting = [...answers]
  return (request, response) => {
    const [status, body] = request.url?.endsWith('/authorize_device')
      ? [200, begun]
      : (waiting.shift() ?? [500, {}])
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }
}

const pending: [number, object] = [400, { error: 'authorization_pending' }]
const token = { access_token: 'glpat-new', token_type: 'Bearer' }

describe('signing in by the browser', () => {
  it('asks until a person allows it, and shows no secret', async () => {
    const url = await serve(answering([pending, pending, [200, token]]))
    expect(await loginByBrowser(url, ['api'])).toBe('glpat-new')
    expect(written.join('')).toContain('WDJB-MJHT')
    expect(written.join('')).not.toMatch(/device-secret|glpat/)
  })

  it('is not offered when the instance has no such address', async () => {
    for (const body of ['{"error":"404 Not Found"}', '<html>']) {
      const url = await serve((_request, response) => response.writeHead(404).end(body))
      expect(await loginByBrowser(url, ['api'])).toBeUndefined()
    }
  })

  it('shows the text of the server without terminal commands', async () => {
    const hostile = {
      ...codes,
      user_code: 'AB\u001b[2J\u202eCD',
      verification_uri: 'https://x.example.com/\u001b]0;y',
    }
    const url = await serve(answering([[200, token]], hostile))
    await loginByBrowser(url, ['api'])
    expect(written.join('')).toContain('U+001B')
    for (const character of ['\u001b', '\u202e']) expect(written.join('')).not.toContain(character)
  })

  it.each<[string, RequestListener, number]>([
    ['denied', answering([pending, [400, { error: 'access_denied' }]]), 4],
    ['too late', answering([[400, { error: 'expired_token' }]]), 3],
    ['too late, and the server has forgotten it', answering([[400, { error: 'invalid_grant' }]]), 3],
    ['a server that fails', answering([[503, { error: 'temporarily_unavailable' }]]), 8],
    [
      'a scope that the instance does not know',
      (_request, response) => {
        response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_scope"}')
      },
      2,
    ],
    ['no token in the answer', answering([[200, { token_type: 'Bearer' }]]), 8],
    ['a token that can be none', answering([[200, { ...token, access_token: 'a\nb' }]]), 8],
    ['a page', (_request, response) => response.setHeader('Content-Type', 'text/html').end('<html>'), 8],
    ['codes without an end', answering([], { user_code: 'AB' }), 8],
    ['no answer', (_request, response) => response.destroy(), 8],
  ])('reports in a sentence: %s', async (_name, listener, exitCode) => {
    await expect(loginByBrowser(await serve(listener), ['api'])).rejects.toMatchObject({
      exitCode,
      message: expect.not.stringContaining('\n'),
    })
  })
})
