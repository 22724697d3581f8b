import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Commit } from '@switchyard/domain/commit'
import { isolatedGitEnv } from '@switchyard/testing'
import { execa } from 'execa'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PickResult, pickCommit } from '../../src/commits/pick-commit.js'
import { findCommit } from '../../src/commits/read-commits.js'
import { createGit, type Git } from '../../src/git.js'
import { findBranchTip } from '../../src/references/find-refs.js'
import type { Repository } from '../../src/repository.js'
import { asTimeAllows } from '../as-time-allows.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

let bare: BareRepository
let git: Git
let repository: Repository
let folder: string

beforeAll(async () => {
  bare = await createBareRepository()
  await bare.feed(`${commit('main', [], 'empty', [])}done\n`, 'fast-import', '--quiet')
  git = createGit(dirname(bare.path))
  repository = git.open({ diskPath: basename(bare.path) })
  folder = join(await mkdtemp(join(tmpdir(), 'switchyard-picks-')), 'work')
  await bare.git('worktree', 'add', '--quiet', '--detach', folder, 'main')
})
afterAll(async () => {
  git?.close()
  if (folder) await rm(dirname(folder), { recursive: true, force: true, maxRetries: 5 })
  await bare?.close()
})

/** One change of a history, as commands of git's importer. */
type Change = string[]

const commit = (branch: string, parents: string[], message: string, changes: Change[]) =>
  [
    `commit refs/heads/${branch}`,
    'committer A <a@x> 1700000000 +0000',
    `data ${message.length}`,
    message,
    ...parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} refs/heads/${parent}`),
    ...changes.flat(),
    '',
    '',
  ].join('\n')

const write = (path: string, content: string, mode = '100644'): Change => [
  `M ${mode} inline ${path}`,
  `data ${Buffer.byteLength(content)}`,
  content,
]

const names = ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'd/e/b', 'f/a', 'f/b']
const folders = ['d', 'd/e', 'f', 'g', 'd/h']
const text = (name: string, ...edited: number[]) =>
  Array.from({ length: 12 }, (_, line) => `${name} ${line}${edited.includes(line) ? ' edited' : ''}\n`).join(
    '',
  )
const base = names.map((name) => write(name, text(name)))

const name = fc.constantFrom(...names)
const aNewName = fc.constantFrom('new', 'd/new', 'd/e/new', 'f/new', 'g/new', 'd', 'a/x')
/**
 * Generates edits that overlap, lie apart, or are the same. A rename may move a folder, even onto an existing
 * one.
 */
const anyChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(name, fc.constantFrom(0, 6, 11)).map(([path, line]) => write(path, text(path, line))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(name, fc.constantFrom('x', '')).map(([path, content]) => write(path, content)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(aNewName, fc.constantFrom('new\n', 'other\n'))
      .map(([path, content]) => write(path, content)),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('100755', '120000')
      .chain((mode) => name.map((path) => write(path, text(path), mode))),
  },
  { weight: 1, arbitrary: name.map((path) => write(path, '\0binary\0')) },
  { weight: 2, arbitrary: name.map((path) => [`D ${path}`]) },
  { weight: 1, arbitrary: fc.constantFrom(...folders.slice(0, 3)).map((path) => [`D ${path}`]) },
)
/** Generates renames. They come first, because git's importer refuses to rename a missing file. */
const renames: fc.Arbitrary<Change[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Change[]>([]) },
  { weight: 2, arbitrary: fc.tuple(name, aNewName).map(([from, to]) => [[`R ${from} ${to}`]]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...folders.slice(0, 3)), fc.constantFrom(...folders))
      .filter(([from, to]) => !`${to}/`.startsWith(`${from}/`) && !`${from}/`.startsWith(`${to}/`))
      .map(([from, to]) => [[`R ${from} ${to}`]]),
  },
)
const side: fc.Arbitrary<Change[]> = fc
  .tuple(renames, fc.array(anyChange, { maxLength: 3 }))
  .map(([first, then]) => [...first, ...then])
interface Scenario {
  isRevert: boolean
  ours: Change[]
  theirs: Change[]
  kind: 'plain' | 'merge' | 'root'
}
const scenario: fc.Arbitrary<Scenario> = fc.record({
  isRevert: fc.boolean(),
  ours: side,
  theirs: side,
  kind: fc.constantFrom<Scenario['kind'][]>('plain', 'plain', 'plain', 'merge', 'root'),
})

/**
 * Returns the result of git's own cherry-pick or revert in a work tree. A printed CONFLICT is not conclusive:
 * git also prints it for a file in the way of a folder when the result has neither.
 */
async function appliedByGit(tip: string, pick: string, { kind, isRevert }: Scenario) {
  const script = `
    git checkout --quiet --force --detach "$1" && git clean -ffdxq || exit 9
    said=$(git -c user.name=x -c user.email=x@x $3 "$2" 2>&1)
    case $said in *'error: could not apply'* | *'error: could not revert'*) echo yes ;; *) echo no ;; esac
    git ls-files -z --unmerged | tr '\\0' '\\n' | cut -f2 | sort -u
    echo "HEAD $(git rev-parse HEAD) $(git rev-parse 'HEAD^{tree}')"
    git cherry-pick --quit; git revert --quit; git reset --quiet --hard`
  const command = isRevert ? 'revert --no-edit' : 'cherry-pick'
  const args = ['-c', script, 'sh', tip, pick, kind === 'merge' ? `${command} -m1` : command]
  const { stdout } = await execa('sh', args, { cwd: folder, env: isolatedGitEnv(), extendEnv: false })
  // A conflict about the target of a renamed folder leaves no file unmerged.
  const [conflicts, ...lines] = stdout.split('\n')
  const [, head, tree] = lines.at(-1)?.split(' ') ?? []
  // A file in the way of a folder is renamed for the work tree.
  const paths = [
    ...new Set(
      lines
        .slice(0, -1)
        .map((line) => line.replace(/~(?:HEAD|(?:parent of )?[0-9a-f]{7,} \(theirs\))(?:_\d+)?$/, '')),
    ),
  ].sort()
  if (conflicts === 'yes') return { outcome: 'conflict', paths }
  return head === tip ? { outcome: 'empty' } : { outcome: 'picked', tree }
}

async function found(revision: string): Promise<Commit> {
  const commit = await findCommit(repository, revision)
  if (!commit) throw new Error(`${revision} is missing`)
  return commit
}

const who = { name: 'A', email: 'a@x', seconds: 1_700_000_000, offsetMinutes: 0 }
const edit = (line: number) => [write('a', text('a', line))]
/** Examples with each outcome at least once. */
const examples: [Scenario][] = [
  [{ isRevert: false, ours: edit(0), theirs: edit(11), kind: 'plain' }],
  [{ isRevert: false, ours: edit(0), theirs: edit(0), kind: 'plain' }],
  [{ isRevert: false, ours: [['D a']], theirs: edit(0), kind: 'plain' }],
  [{ isRevert: true, ours: edit(11), theirs: edit(11), kind: 'plain' }],
  [{ isRevert: true, ours: [['D a']], theirs: edit(0), kind: 'plain' }],
  [
    // A folder is in the way of the link, so git stores the link under a name with the side.
    {
      isRevert: true,
      ours: [['R d g'], write('a', text('a', 6)), write('d/b', text('d/b'), '120000')],
      theirs: [['R d/e/a d'], write('f/a', text('f/a', 6)), write('d/a', text('d/a', 6))],
      kind: 'plain',
    },
  ],
]
const outcomes = new Set<string>()
let count = 0

/** Writes the two sides of a scenario, each on its own branch. */
async function writeScenario({ ours, theirs, kind }: Scenario) {
  count += 1
  const [root, tip, pick] = [`root-${count}`, `ours-${count}`, `theirs-${count}`]
  const parents = { plain: [root], merge: [root, 'main^0'], root: [] }[kind]
  const changes = kind === 'root' ? [...base, ...theirs] : theirs
  const stream =
    commit(root, [], 'base', base) +
    commit(tip, [root], 'ours', ours) +
    commit(pick, parents, 'theirs', changes)
  await bare.feed(stream, 'fast-import', '--quiet')
  return { branch: tip, tip: (await found(tip)).id, pick: await found(pick) }
}

async function told(result: PickResult) {
  if (result.outcome === 'conflict') return { outcome: 'conflict', paths: [...result.paths].sort() }
  return result.outcome === 'picked'
    ? { outcome: 'picked', tree: (await found(result.commit.id)).treeId }
    : result
}

test('a cherry-pick or revert has the same result as in git: the same tree, the same conflicts, or nothing to do', async () => {
  await fc.assert(
    fc.asyncProperty(
      scenario,
      asTimeAllows(
        6_000,
        async (given) => {
          const { branch, tip, pick } = await writeScenario(given)
          const expected = await appliedByGit(tip, pick.id, given)
          const { isRevert } = given
          const request = { branch, tip, pick, isRevert, author: who, committer: who, message: 'picked' }
          const tried = await pickCommit(repository, { ...request, dryRun: true })
          expect(await findBranchTip(repository, branch)).toBe(tip)
          const result = await pickCommit(repository, { ...request, dryRun: false })
          expect(tried).toEqual(
            result.outcome === 'picked' ? { outcome: 'possible', diffs: expect.any(Array) } : result,
          )
          // The picked commit changes something, so its preview shows a file.
          if (tried.outcome === 'possible') expect(tried.diffs).not.toEqual([])
          expect(await told(result)).toEqual(expected)
          if (result.outcome !== 'picked') expect(await findBranchTip(repository, branch)).toBe(tip)
          outcomes.add(result.outcome)
        },
        examples.length,
      ),
    ),
    { numRuns: 80, examples },
  )
  expect([...outcomes].sort()).toEqual(['conflict', 'empty', 'picked'])
  expect(await bare.git('fsck', '--strict', '--no-dangling')).toBe('')
})
