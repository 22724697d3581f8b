import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startUpstream, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway } from './support/gateway.js'

let upstream: Upstream
let gateway: Gateway

beforeAll(async () => {
  upstream = await startUpstream((_incoming, response) =>
    response.writeHead(422, { 'Content-Length': 9 }).end('refused: '),
  )
  gateway = await startGateway({ 'git-api': upstream.port })
})
afterAll(async () => {
  await gateway?.stop()
  await upstream?.close()
})

/**
 * Sends 3 MB repeatedly on connections that it closes, and prints the status of each answer, or the error.
 */
const urllib = `
import sys, urllib.request, urllib.error
for _ in range(40):
    try:
        print(urllib.request.urlopen(sys.argv[1], data=b'x' * 3 * 1024 * 1024).status)
    except urllib.error.HTTPError as answer: print(answer.code)
    except Exception as problem: print(repr(problem))
`

it.each([
  ['by the gateway itself', '/api/v4/projects', '413'],
  ['by the service', '/api/v4/projects/1/repository/commits', '422'],
])(
  'a body that is refused %s before it was read has its answer seen by the client',
  async (_by, path, status) => {
    const { stdout } = await execa('python3', ['-c', urllib, gateway.url + path])
    expect(stdout.split('\n')).toEqual(Array(40).fill(status))
  },
)
