import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSettings } from './settings.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-settings-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fileOf(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, `${content}\n`)
  return path
}

const read = (env: NodeJS.ProcessEnv) => readSettings('/checkout', env, false)

describe('the settings of npm start', () => {
  it('are read from secret files, and pass neither secrets nor files on to every service', () => {
    const settings = read({
      PATH: '/bin',
      DATABASE_URL_FILE: fileOf('database', 'postgresql://me:hunter2@db/x'),
      SWITCHYARD_ROOT_TOKEN_FILE: fileOf('token', 'token-of-the-root'),
      WEBHOOK_SECRET_KEYS: 'key',
      REDIS_URL: '',
    })
    expect(settings).toMatchObject({
      databaseUrl: 'postgresql://me:hunter2@db/x',
      rootToken: 'token-of-the-root',
      webhookSecretKeys: 'key',
      inherited: { PATH: '/bin' },
    })
    expect(settings.redisUrl).toBeUndefined()
    expect(Object.keys(settings.inherited)).toEqual(['PATH'])
  })

  it('report every problem at once, without a value', () => {
    const wrong = {
      DATABASE_URL: 'mysql://me:hunter2@db/x',
      REDIS_URL_FILE: join(folder, 'hunter2'),
      PORT: '0',
    }
    expect(() => read(wrong)).toThrow(
      'REDIS_URL_FILE: the file cannot be read (ENOENT); PORT is "0"; it must be a port from 1 to 65535; DATABASE_URL must be postgresql://user:password@host:port/database',
    )
  })
})
