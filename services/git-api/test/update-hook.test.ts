import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type BranchProtection, canPush } from '@switchyard/domain/access'
import { isRefName } from '@switchyard/domain/commit'
import { branchRules } from '@switchyard/git-storage'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const hook = fileURLToPath(new URL('../hooks/update', import.meta.url))
const zero = '0'.repeat(40)

/** Whether the hook lets a new branch be made. */
function hookAllows(branch: string, rules: string): Promise<boolean> {
  const env = { PATH: process.env.PATH, LC_ALL: 'C', SWITCHYARD_BRANCH_RULES: rules }
  const args = [`refs/heads/${branch}`, zero, '1'.repeat(40)]
  return new Promise((resolve) => {
    execFile(hook, args, { env }, (error) => resolve(error === null))
  })
}

const alphabet = [...'ab/*?[]!-.$\'"`\\(){}|&;é# ']
const word = fc
  .array(fc.constantFrom(...alphabet), { minLength: 1, maxLength: 6 })
  .map((letters) => letters.join(''))
const branch = word.filter(isRefName)

const protection = (name: string): fc.Arbitrary<BranchProtection> =>
  fc.record({
    name: fc.constant(name),
    pushAccessLevel: fc.constantFrom(0, 30, 40),
    allowForcePush: fc.boolean(),
  })

/** A branch, and protections made from pieces of its name as well as from chance. */
const situation = branch.chain((name) => {
  const pattern = fc.oneof(
    fc.constant(name),
    fc.nat(name.length).map((at) => `${name.slice(0, at)}*`),
    fc.nat(name.length).map((at) => `*${name.slice(at)}`),
    word,
  )
  const protections = fc.array(pattern.chain(protection), { maxLength: 3 })
  return fc.record({ branch: fc.constant(name), protections, level: fc.constantFrom(30, 40, 50) })
})

test('the hook agrees with the domain on who may push where', async () => {
  await fc.assert(
    fc.asyncProperty(situation, async ({ branch: name, protections, level }) => {
      const allowed = await hookAllows(name, branchRules(level, protections))
      expect(allowed).toBe(canPush(name, level, protections))
    }),
    { numRuns: 300 },
  )
})

test('a reference that is no branch is not the hook’s business', async () => {
  const args = ['refs/tags/v1', zero, '1'.repeat(40)]
  const env = { PATH: process.env.PATH, SWITCHYARD_BRANCH_RULES: '0 0 *' }
  await new Promise<void>((resolve, reject) => {
    execFile(hook, args, { env }, (error) => (error ? reject(error) : resolve()))
  })
})
