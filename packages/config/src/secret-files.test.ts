import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ConfigError, databaseUrl, loadConfig, secretField } from './index.js'

const schema = z.object({
  DATABASE_URL: databaseUrl(),
  API_TOKEN: secretField(z.string().min(8, 'must have 8 characters')).optional(),
  NOTE: z.string().optional(),
})

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-config-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const url = 'postgresql://me:hunter2@db/x'
const urlFile = () => file('url', `${url}\n`)

function problemsOf(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig('demo', schema, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('a secret from a file', () => {
  it('is the content of the file, without the line break at its end', () => {
    const config = loadConfig('demo', schema, { DATABASE_URL_FILE: urlFile(), API_TOKEN: 'a-token-given' })
    expect(config.DATABASE_URL.reveal()).toBe(url)
    expect(config.API_TOKEN?.reveal()).toBe('a-token-given')
  })

  it('is an error when the variable itself is set too, because neither is preferred silently', () => {
    const problems = problemsOf({ DATABASE_URL: url, DATABASE_URL_FILE: urlFile() })
    expect(problems).toContain('DATABASE_URL and DATABASE_URL_FILE are both set: unset one of them')
    expect(problems).not.toContain('hunter2')
  })

  it('is read when the variable is empty, and the variable when the name of the file is empty', () => {
    expect(problemsOf({ DATABASE_URL: '', DATABASE_URL_FILE: urlFile(), API_TOKEN_FILE: '' })).toBe('')
  })

  it.each([
    ['a missing file', () => join(folder, 'hunter2'), 'the file cannot be read (ENOENT)'],
    ['a folder', () => folder, 'it does not name a regular file'],
    ['an endless device', () => '/dev/zero', 'it does not name a regular file'],
    ['an empty file', () => file('empty', '\n'), 'the file is empty'],
    ['a secret in place of a path', () => url, 'the file cannot be read (ENOENT)'],
  ])('reports that %s is not a secret, without the path', (_what, path, problem) => {
    const message = problemsOf({ DATABASE_URL_FILE: path() })
    expect(message).toBe(`demo cannot start: its environment does not fit.\n  DATABASE_URL_FILE: ${problem}`)
  })

  it('does not wait for the writer of a pipe', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    expect(problemsOf({ DATABASE_URL_FILE: pipe })).toContain('it does not name a regular file')
  })

  it('does not read a file that is far too large', () => {
    const large = file('large', '')
    truncateSync(large, 2 ** 40)
    expect(problemsOf({ DATABASE_URL_FILE: large })).toContain('the file is larger than 1048576 bytes')
  })

  it('is checked like the variable, and no part of it is shown', () => {
    const problems = problemsOf({
      DATABASE_URL_FILE: file('mysql', 'mysql://me:hunter2@db/x'),
      API_TOKEN_FILE: file('short', 'hunter2'),
    })
    expect(problems).toContain('DATABASE_URL: must be postgresql://')
    expect(problems).toContain('API_TOKEN: must have 8 characters')
    expect(problems).not.toContain('hunter2')
  })

  it('exists for secrets only', () => {
    const config = loadConfig('demo', schema, { DATABASE_URL: url, NOTE_FILE: urlFile() })
    expect(config.NOTE).toBeUndefined()
  })
})
