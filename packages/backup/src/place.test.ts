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

it('refuses half a place, and tells no password', () => {
  expect(() => readPlace('/checkout', { SWITCHYARD_STORAGE_ROOT: '/storage' })).toThrow(
    'set DATABASE_URL, too',
  )
  expect(() => readPlace('/checkout', { DATABASE_URL: 'mysql://u:hidden@db/x' })).toThrow(/^(?!.*hidden)/)
})
