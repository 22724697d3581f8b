import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLocations } from './data-locations.js'

it('uses the data folder of npm start unless another one is named', () => {
  expect(readLocations('/checkout', {})).toEqual({
    databaseUrl: null,
    storageRoots: new Map([['default', '/checkout/.switchyard/repositories']]),
    dataDir: '/checkout/.switchyard',
    metricsFile: null,
    copies: null,
  })
  const env = {
    DATABASE_URL: 'postgresql://db/x',
    SWITCHYARD_DATA: '/data',
    BACKUP_METRICS_FILE: '/m/b.prom',
  }
  expect(readLocations('/checkout', env)).toEqual({
    databaseUrl: 'postgresql://db/x',
    storageRoots: new Map([['default', '/data/repositories']]),
    dataDir: '/data',
    metricsFile: '/m/b.prom',
    copies: null,
  })
  expect(
    readLocations('/checkout', { DATABASE_URL: 'postgresql://db/x', SWITCHYARD_STORAGE_ROOT: '/storage' }),
  ).toEqual({
    databaseUrl: 'postgresql://db/x',
    storageRoots: new Map([['default', '/storage']]),
    dataDir: null,
    metricsFile: null,
    copies: null,
  })
})

it('reads a folder for each of several storages', () => {
  const env = { DATABASE_URL: 'postgresql://db/x', SWITCHYARD_STORAGE_ROOTS: 'default=/a, second=b=c' }
  expect(readLocations('/checkout', env).storageRoots).toEqual(
    new Map([
      ['default', '/a'],
      ['second', '/checkout/b=c'],
    ]),
  )
  for (const roots of ['/a', 'default=', 'Second=/a', 'default=/a,']) {
    expect(() => readLocations('/checkout', { ...env, SWITCHYARD_STORAGE_ROOTS: roots })).toThrow(
      'must be storages such as second=/srv/second',
    )
  }
})

it('reads the URL of the database from a file, as services do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-locations-'))
  const file = join(folder, 'url')
  writeFileSync(file, 'postgresql://db/x\n')
  const env = { DATABASE_URL_FILE: file }
  expect(readLocations('/checkout', env)).toMatchObject({ databaseUrl: 'postgresql://db/x' })
  rmSync(folder, { recursive: true })
  expect(() => readLocations('/checkout', env)).toThrow(/DATABASE_URL_FILE/)
})

it('refuses incomplete locations without revealing a password', () => {
  expect(() => readLocations('/checkout', { SWITCHYARD_STORAGE_ROOT: '/storage' })).toThrow(
    'DATABASE_URL is required: set it together with SWITCHYARD_STORAGE_ROOT',
  )
  expect(() => readLocations('/checkout', { SWITCHYARD_STORAGE_ROOTS: 'default=/storage' })).toThrow(
    'set it together with SWITCHYARD_STORAGE_ROOTS',
  )
  const both = {
    DATABASE_URL: 'postgresql://db/x',
    SWITCHYARD_STORAGE_ROOT: '/a',
    SWITCHYARD_STORAGE_ROOTS: 'default=/a',
  }
  expect(() => readLocations('/checkout', both)).toThrow('replaces SWITCHYARD_STORAGE_ROOT')
  expect(() => readLocations('/checkout', { DATABASE_URL: 'mysql://u:hidden@db/x' })).toThrow(
    /^(?!.*hidden)/s,
  )
})
