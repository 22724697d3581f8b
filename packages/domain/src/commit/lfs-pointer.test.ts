import { expect, it } from 'vitest'
import { parseLfsPointer } from './lfs-pointer.js'

const oid = 'ab'.repeat(32)
const version = 'version https://git-lfs.github.com/spec/v1'

it('a pointer names the SHA-256 and the size of its object', () => {
  expect(parseLfsPointer(`${version}\noid sha256:${oid}\nsize 12345\n`)).toEqual({ oid, size: 12345 })
  expect(parseLfsPointer(`${version}\next-0-foo sha256:${oid}\noid sha256:${oid}\nsize 0\n`)).toEqual({
    oid,
    size: 0,
  })
})

it.each([
  '',
  'size 1\n',
  `${version}\n`,
  `${version}\noid sha256:${oid}\n`,
  `${version}\noid sha256:${oid}\nsize -1\n`,
  `${version}\noid sha256:${oid}\nsize 1e3\n`,
  `${version}\noid sha256:${oid.toUpperCase()}\nsize 1\n`,
  `${version}\noid md5:${oid}\nsize 1\n`,
  `oid sha256:${oid}\nsize 1\n${version}\n`,
])('%j is not a pointer', (content) => {
  expect(parseLfsPointer(content)).toBeNull()
})
