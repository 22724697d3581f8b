import { expect, test } from 'vitest'
import { branchStart } from './branch-start.js'

const asked = { branch: 'b', tip: null, start: undefined, empty: false, force: false }

test('a commit has the tip of its branch as its parent, or begins an empty repository', () => {
  expect(branchStart({ ...asked, tip: 't' })).toEqual({ parent: 't', forced: false })
  expect(branchStart({ ...asked, empty: true })).toEqual({ parent: null, forced: false })
  expect(() => branchStart(asked)).toThrow('You can only create or edit files when you are on a branch')
})

test('a start creates a branch, and moves an existing branch only with force', () => {
  expect(branchStart({ ...asked, start: 's' })).toEqual({ parent: 's', forced: false })
  expect(branchStart({ ...asked, tip: 's', start: 's' })).toEqual({ parent: 's', forced: false })
  expect(() => branchStart({ ...asked, tip: 't', start: 's' })).toThrow("A branch called 'b' already exists")
  expect(branchStart({ ...asked, tip: 't', start: 's', force: true })).toEqual({ parent: 's', forced: true })
})
