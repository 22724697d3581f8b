import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressNameOf, packageAddressOf, versionOf } from './release-names'

it('every tag has a unique version with valid characters', () => {
  expect(versionOf('v1.0.0')).toBe('v1.0.0')
  expect(versionOf('release/1.0+linux')).toBe('release+2F1.0+2Blinux')
  const tag = fc.string({ unit: fc.constantFrom('a', '/', '+', '2', 'F', '~', "'", '(', '*', '!', 'ä', '%') })
  fc.assert(
    fc.property(tag, tag, (one, other) => {
      expect(versionOf(one)).toMatch(/^[\w.+-]*$/)
      expect(versionOf(one) === versionOf(other)).toBe(one === other)
    }),
    { numRuns: 200 },
  )
})

it.each([
  ['app.zip', 'app.zip'],
  ['Manual (final).pdf', 'Manual-final-.pdf'],
  ['Übersicht.png', '-bersicht.png'],
  ['../../etc/passwd', '..-..-etc-passwd'],
  ['…', ''],
])('the address of %j ends with %j', (name, address) => {
  expect(addressNameOf(name)).toBe(address)
})

it('only a file that the API shows as one of the project can be deleted', () => {
  const link = {
    id: 1,
    name: 'app.zip',
    url: 'https://forge.example/api/v4/projects/7/packages/generic/app/1.0/linux/app.zip',
    direct_asset_url: '',
    link_type: 'package' as const,
  }
  expect(packageAddressOf({ ...link, sha256: 'ab' })).toBe(
    '/projects/7/packages/generic/app/1.0/linux/app.zip',
  )
  expect(packageAddressOf(link)).toBeUndefined()
  expect(
    packageAddressOf({ ...link, sha256: 'ab', url: 'https://forge.example/-/project/7/uploads/ab/app.zip' }),
  ).toBeUndefined()
})
