import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPlace } from './place.js'

it('takes the data folder of npm start unless another place is named', () => {
  expect(readPlace('/checkout', {})).toEqual({
    databaseUrl: null,
    storageRoot: '/checkout/.switchyard/repositories',
    dataDir: '/checkout/.switchyard',
  })
  expect(readPlace('/checkout', { DATABASE_URL: 'postgresql://db/x', SWITCHYARD_DATA: '/data' })).toEqual({
    databaseUrl: 'postgresql://db/x',
    storageRoot: '/data/repositories',
    dataDir: '/data',
  })
  expect(
    readPlace('/checkout', { DATABASE_URL: 'postgresql://db/x', SWITCHYARD_STORAGE_ROOT: '/storage' }),
  ).toEqual({ databaseUrl: 'postgresql://db/x', storageRoot: '/storage', dataDir: null })
})

it('takes the URL of the database from a file, as services do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-place-'))
  const file = join(folder, 'url')
  writeFileSync(file, 'postgresql://db/x\n')
  const env = { DATABASE_URL_FILE: file }
  expect(readPlace('/checkout', env)).toMatchObject({ databaseUrl: 'postgresql://db/x' })
  rmSync(folder, { recursive: true })
  expect(() => readPlace('/checkout', env)).toThrow(/DATABASE_URL_FILE/)
})

it('refuses half a place, and tells no password', () => {
  expect(() => readPlace('/checkout', { SWITCHYARD_STORAGE_ROOT: '/storage' })).toThrow(
    'DATABASE_URL is required: set it together with SWITCHYARD_STORAGE_ROOT',
  )
  expect(() => readPlace('/checkout', { DATABASE_URL: 'mysql://u:hidden@db/x' })).toThrow(/^(?!.*hidden)/s)
})
