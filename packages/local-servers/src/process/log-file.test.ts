import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lastFailure } from './log-file.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-file-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const failureOf = (...lines: unknown[]) => {
  const file = join(folder, 'service.log')
  writeFileSync(
    file,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return lastFailure(file)
}

it('the reason of an end is the fatal line, whatever is logged afterwards', () => {
  const reason = failureOf(
    { level: 'fatal', err: { message: 'an earlier one' }, msg: 'could not start' },
    { level: 'fatal', err: { message: 'port 50051 is in use' }, msg: 'could not start' },
    { level: 'info', msg: 'stopping' },
    { level: 'warn', err: { message: 'the connection is closed' }, msg: 'redis' },
  )
  expect(reason).toBe('port 50051 is in use')
})

it('without a fatal line it is the last line, even of a server that logs plain text, cut to a few lines', () => {
  expect(failureOf('LOG: starting', 'FATAL: data directory is locked', '')).toBe(
    'FATAL: data directory is locked',
  )
  expect(failureOf({ level: 'info', msg: 'listening' })).toBe('listening')
  expect(failureOf('x'.repeat(9000))).toHaveLength(300)
  expect(lastFailure(join(folder, 'none.log'))).toBe('it wrote no log')
})
