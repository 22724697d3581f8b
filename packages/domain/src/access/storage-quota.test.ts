import { describe, expect, it } from 'vitest'
import { quotaRefusal, sizeText, storageLimitsOf } from './storage-quota.js'

const mebibyte = 1024 ** 2
const defaults = { projectBytesMax: 10 * mebibyte, ownerBytesMax: 20 * mebibyte }

describe('the limits of a project', () => {
  it.each([
    [null, false, { projectBytesMax: 10 * mebibyte, ownerBytesMax: 20 * mebibyte }],
    [null, true, { projectBytesMax: null, ownerBytesMax: null }],
    [0, false, { projectBytesMax: null, ownerBytesMax: 20 * mebibyte }],
    [5, false, { projectBytesMax: 5, ownerBytesMax: 20 * mebibyte }],
    [5, true, { projectBytesMax: 5, ownerBytesMax: null }],
  ])('with its own limit %s, owned by an administrator: %s', (own, isOwnedByAdministrator, limits) => {
    expect(storageLimitsOf({ own, isOwnedByAdministrator }, defaults)).toEqual(limits)
  })

  it('a limit of 0 of the installation means no limit', () => {
    const none = { projectBytesMax: 0, ownerBytesMax: 0 }
    const limits = storageLimitsOf({ own: null, isOwnedByAdministrator: false }, none)
    expect(limits).toEqual({ projectBytesMax: null, ownerBytesMax: null })
  })
})

describe('a quota', () => {
  const limits = { projectBytesMax: 10 * mebibyte, ownerBytesMax: 20 * mebibyte }
  const nothingDeleted = { projectReleasedBytes: 0, ownerReleasedBytes: 0 }

  it('accepts what fits exactly, and refuses one byte more', () => {
    const stored = { projectBytes: 9 * mebibyte, ownerBytes: 9 * mebibyte, ...nothingDeleted }
    expect(quotaRefusal(limits, stored, mebibyte)).toBeNull()
    expect(quotaRefusal(limits, stored, mebibyte + 1)).toBe(
      'The repository, the LFS objects and the files of this project may take 10 MiB and take 9 MiB; there is no room for 1.0 MiB more',
    )
  })

  it('refuses nothing that adds no byte, even beyond the limit', () => {
    const stored = { projectBytes: 11 * mebibyte, ownerBytes: 99 * mebibyte, ...nothingDeleted }
    expect(quotaRefusal(limits, stored, 0)).toBeNull()
  })

  it('counts all projects of the owner together', () => {
    const stored = { projectBytes: 0, ownerBytes: 20 * mebibyte, ...nothingDeleted }
    expect(quotaRefusal(limits, stored, 1)).toBe(
      'All projects of the owner of this project may take 20 MiB together and take 20 MiB; there is no room for 1 bytes more',
    )
  })

  it('ignores deleted files until the disk holds twice the quota', () => {
    const deleted = (projectReleasedBytes: number, ownerReleasedBytes: number) => ({
      projectBytes: 4 * mebibyte,
      ownerBytes: 4 * mebibyte,
      projectReleasedBytes,
      ownerReleasedBytes,
    })
    expect(quotaRefusal(limits, deleted(15 * mebibyte, 35 * mebibyte), mebibyte)).toBeNull()
    expect(quotaRefusal(limits, deleted(15 * mebibyte, 15 * mebibyte), mebibyte + 1)).toBe(
      'This project may take 10 MiB; there is no room for 1.0 MiB more until 15 MiB of deleted files are removed from the disk, an hour after they were stored',
    )
    expect(quotaRefusal(limits, deleted(0, 35 * mebibyte), 2 * mebibyte)).toBe(
      'All projects of the owner of this project may take 20 MiB together; there is no room for 2 MiB more until 35 MiB of deleted files are removed from the disk, an hour after they were stored',
    )
  })
})

it.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KiB'],
  [1536, '1.5 KiB'],
  [5 * 1024 ** 3, '5 GiB'],
  [2 ** 60, '1024 PiB'],
])('a size of %i reads %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
