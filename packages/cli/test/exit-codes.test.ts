import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { main } from '../src/main.js'
import { serve } from './serve.js'

let folder: string
let said: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-exit-codes-'))
  writeFileSync(join(folder, 'app.zip'), 'zip')
  said = []
  vi.stubEnv('XDG_CONFIG_HOME', folder)
  vi.stubEnv('SWITCHYARD_PROJECT', 'ada/engine')
  for (const name of ['SWITCHYARD_URL', 'SWITCHYARD_TOKEN', 'SWITCHYARD_TENANT']) vi.stubEnv(name, '')
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(['glpat-typed']) as never)
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

async function exitCodeOf(...args: string[]): Promise<unknown> {
  const { exitCode: before } = process
  process.exitCode = 0
  try {
    await main(args, { version: '0' })
    return process.exitCode
  } finally {
    process.exitCode = before
  }
}

/** Every command that calls a server, with valid arguments. */
const commands: string[][] = [
  ['whoami'],
  ['status', 'post', 'main', 'success', '--name', 'build'],
  ['deploy', 'start', 'production', '--sha', 'main', '--ref', 'main'],
  ['deploy', 'finish', '41'],
  ['release', 'upload', 'v1', 'FOLDER/app.zip'],
  ['token', 'create', 'ci', '--scope', 'api'],
  ['token', 'create', 'ci', '--scope', 'api', '--project', 'ada/engine'],
  ['token', 'create', 'ci', '--scope', 'api', '--user', 'ada'],
  ['saga', 'ls'],
  ['saga', 'show', 'trip'],
  ['saga', 'watch', 'trip'],
  ['saga', 'resolve', 'trip', '--note', 'done'],
  ['saga', 'note', 'trip', 'done'],
  ['queue', 'ls'],
  ['banner', 'post', 'Hello'],
  ['banner', 'ls'],
  ['banner', 'end', '7'],
]

/** The exit codes of docs/command-line.md. */
const codes: [status: number, exitCode: number][] = [
  [400, 2],
  [401, 3],
  [403, 4],
  [404, 5],
  [409, 6],
  [412, 6],
  [413, 2],
  [422, 2],
  [429, 7],
  [500, 8],
  [503, 8],
]

/** Starts a server that refuses everything. */
const refusing = (status: number, body: object = { message: 'refused' }) =>
  serve((request, response) => {
    request.resume()
    response.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '3600' })
    response.end(JSON.stringify(body))
  })

describe('the exit code of each command is that of the documentation', () => {
  it.each(codes)('when the server answers %d: %d', async (status, exitCode) => {
    vi.stubEnv('SWITCHYARD_TOKEN', 'glpat-given')
    vi.stubEnv('SWITCHYARD_URL', await refusing(status))
    for (const command of commands) {
      const args = command.map((part) => part.replace('FOLDER', folder))
      const isAboutState = command.join(' ') === 'deploy finish 41' && exitCode === 2
      expect([command, await exitCodeOf(...args)]).toEqual([command, isAboutState ? 6 : exitCode])
    }
    expect(said.filter((line) => line.startsWith('✗ '))).toHaveLength(commands.length)
  })

  it('when nothing listens: 8', async () => {
    vi.stubEnv('SWITCHYARD_TOKEN', 'glpat-given')
    vi.stubEnv('SWITCHYARD_URL', 'http://127.0.0.1:9')
    for (const command of commands) {
      const args = command.map((part) => part.replace('FOLDER', folder))
      expect([command, await exitCodeOf(...args)]).toEqual([command, 8])
    }
  })

  it('when nobody has signed in: 3', async () => {
    for (const command of commands) expect([command, await exitCodeOf(...command)]).toEqual([command, 3])
    vi.stubEnv('SWITCHYARD_URL', 'http://127.0.0.1:9')
    for (const command of commands) expect([command, await exitCodeOf(...command)]).toEqual([command, 3])
  })

  it.each(codes)('of login with a token, when the server answers %d: %d', async (status, exitCode) => {
    expect(await exitCodeOf('login', await refusing(status), '--token')).toBe(exitCode)
  })

  it.each([
    [400, 2, { error: 'invalid_scope', error_description: 'there is no such scope' }],
    [404, 5, { message: '404 Not Found' }],
    [429, 7, { message: '429 Too Many Requests' }],
    [500, 8, { message: '500 Internal Server Error' }],
    [404, 5, undefined],
    [502, 8, undefined],
    [401, 8, undefined],
  ])('of login by the browser, when the server answers %d: %d', async (status, exitCode, body) => {
    expect(await exitCodeOf('login', await refusing(status, body), '--browser')).toBe(exitCode)
  })

  it('of login without an address: 2, and where its token cannot be kept: 1', async () => {
    expect(await exitCodeOf('login')).toBe(2)
    vi.stubEnv('XDG_CONFIG_HOME', '/proc/none')
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' })
      response.end('{"user_id":1,"username":"ada"}')
    })
    expect(await exitCodeOf('login', url, '--token')).toBe(1)
    expect(said.join('')).toContain('/proc/none: no folder can be made here')
  })
})
