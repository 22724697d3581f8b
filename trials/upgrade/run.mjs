// Builds the previous release in a temporary worktree, replaces it under load by this checkout, and runs its
// own tests on the schema of this checkout.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readArguments } from '../../ops/setup/arguments.mjs'
import { root, run } from '../../ops/setup/bootstrap.mjs'
import { runGroup } from '../../ops/setup/child-group.mjs'

const { operands } = readArguments(
  `pnpm test:upgrade [COMMIT]
  COMMIT is the release before; else it is the newest tag, else the parent of the commit that added the newest migration.`,
  { operands: ['COMMIT?'] },
)

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

function releaseBefore() {
  if (operands[0]) return operands[0]
  const [newestTag] = git('tag', '--merged', 'HEAD~', '--sort=-v:refname', '--list', 'v*').split('\n')
  if (newestTag) return newestTag
  const migrations = 'packages/db/prisma/migrations'
  const newest = readdirSync(join(root, migrations), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .at(-1)
  const added = git('log', '--diff-filter=A', '--format=%H', '-1', '--', `${migrations}/${newest}`)
  return `${added}~`
}

await run(async (stop) => {
  const commit = git('rev-parse', '--verify', `${releaseBefore()}^{commit}`)
  const folder = join(mkdtempSync(join(tmpdir(), 'switchyard-upgrade-')), 'before')
  console.log(`release before: ${git('log', '-1', '--format=%h %s', commit)}`)
  git('worktree', 'add', '--quiet', '--detach', folder, commit)
  try {
    const { packageManager } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const pnpm = ['npx', '--yes', packageManager]
    for (const command of [
      ['install', '--frozen-lockfile', '--prefer-offline'],
      ['run', 'build'],
    ]) {
      const code = await runGroup([...pnpm, ...command], stop, { cwd: folder })
      if (code !== 0) return code
    }
    const env = { ...process.env, SWITCHYARD_RELEASE_BEFORE: folder }
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const olderTests = join(root, 'trials', 'upgrade', 'run-older-tests.ts')
    for (const args of [
      [vitest, 'run', '--project', 'upgrade', '--reporter=verbose'],
      ['--import', 'tsx', olderTests],
    ]) {
      const code = await runGroup([process.execPath, ...args], stop, { cwd: root, env })
      if (code !== 0) return code
    }
    return 0
  } finally {
    git('worktree', 'remove', '--force', folder)
  }
})
