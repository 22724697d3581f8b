import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Gateway, startGateway } from './support/gateway.js'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({})
})
afterAll(() => gateway?.stop())

it('an address that sends far more requests than a client has is refused with 429, in the shape of the services', async () => {
  // nginx ends a connection after 1,000 requests.
  const sent = 900
  const ask = async () => {
    const asking = connect(gateway.httpPort, '127.0.0.1')
    await once(asking, 'connect')
    const one = 'GET /-/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'
    asking.write(one.repeat(sent - 1) + one.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    return await text(asking)
  }
  const answers = (await Promise.all(Array.from({ length: 6 }, ask))).join('')
  expect(answers).toContain('HTTP/1.1 429 Too Many Requests')
  expect(answers).toContain('{"message":"429 Too Many Requests","request_id":"')
  // Those within the limit are answered all the same: this path is served by nobody here.
  expect(answers.match(/HTTP\/1\.1 (404|502)/g)?.length).toBeGreaterThanOrEqual(2000)
})
