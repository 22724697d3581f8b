import { afterAll, beforeAll, expect, it } from 'vitest'
import { startUpstream, type Upstream } from './support/echo-server.js'
import { type Gateway, startGateway } from './support/gateway.js'

let releases: Upstream[]
let gateway: Gateway

/** Starts an instance of the console with one file of its own. */
const startRelease = (name: string) =>
  startUpstream((request, response) => {
    response.statusCode = request.url === `/console/assets/${name}.js` ? 200 : 404
    response.end()
  })

beforeAll(async () => {
  releases = [await startRelease('before'), await startRelease('after')]
  gateway = await startGateway({ console: releases.map(({ port }) => port) })
})
afterAll(async () => {
  await gateway?.stop()
  for (const release of releases ?? []) await release.close()
})

it.each([
  ['before.js', 200],
  ['after.js', 200],
  ['neither.js', 404],
])('a page of either release finds its files while both releases run: %s', async (file, status) => {
  // Both instances answer in turn.
  for (let turn = 0; turn < 4; turn += 1)
    expect((await fetch(`${gateway.url}/console/assets/${file}`)).status).toBe(status)
})
