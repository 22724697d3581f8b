import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { runEndToEnd } from '../support/run-end-to-end.js'
import { grpcAddress, url } from './calls.js'
import { type Engine, startEngine } from './engine.js'
import { type Installation, makeInstallation } from './installation.js'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-compose-'))
/** The tour reports a saga without a token, as with `npm start`. */
const settings = { SAGA_AUTH: 'none', SAGA_AUTH_NONE_ON_NETWORK: 'true' }
let engine: Engine
let installed: Installation | undefined

beforeAll(async () => {
  engine = await startEngine()
})
afterEach(async () => {
  await installed?.remove()
  installed = undefined
})
afterAll(async () => {
  await engine?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it.each(['trials/end-to-end/readme-tour.test.ts', 'trials/end-to-end/console/console.test.ts'])(
  '%s passes on what docker compose has brought up',
  async (file) => {
    installed = await makeInstallation(engine, join(folder, 'switchyard'), [], settings)
    await installed.up()
    const { rootToken } = installed
    const { failed, all } = await runEndToEnd(file, { url, grpcAddress, rootToken })
    expect(failed, all).toBe(false)
    // Without a browser, the tests of the console would be skipped.
    expect(all).not.toContain('skipped')
  },
)
