import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { type Commit, type CommitAction, readActions } from '@switchyard/domain/commit'
import { isolatedGitEnv } from '@switchyard/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommitRequest, writeCommit } from '../../src/commits/write-commit.js'
import { createGit, type Git } from '../../src/git.js'
import { findBranchTip } from '../../src/references/find-refs.js'
import type { Repository } from '../../src/repository.js'
import { asTimeAllows } from '../as-time-allows.js'
import { type BareRepository, createBareRepository } from '../random-history.js'

type TextAction = CommitAction & { content?: string | undefined }
type Files = Map<string, { mode: string; content: string }>

let ours: BareRepository
let git: Git
let repository: Repository
let importer: FastImport

beforeAll(async () => {
  ours = await createBareRepository()
  git = createGit(dirname(ours.path))
  repository = git.open({ diskPath: basename(ours.path) })
  importer = new FastImport(await createBareRepository())
})
afterAll(async () => {
  git?.close()
  await importer?.close()
  await ours?.close()
})

/** The importer of git, which builds commits from a list of changes, and returns the tree after each. */
class FastImport {
  readonly #repository: BareRepository
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: Interface
  readonly #answers: AsyncIterator<string>
  #mark = 0

  constructor(repository: BareRepository) {
    this.#repository = repository
    const args = [`--git-dir=${repository.path}`, 'fast-import', '--quiet']
    this.#child = spawn('git', args, { env: isolatedGitEnv() })
    this.#lines = createInterface(this.#child.stdout)
    this.#answers = this.#lines[Symbol.asyncIterator]()
  }

  /**
   * Commits changes to a branch.
   *
   * @returns the id of the tree
   */
  async commit(branch: string, changes: string[]): Promise<string> {
    this.#mark += 1
    const start = [
      `commit refs/heads/${branch}`,
      `mark :${this.#mark}`,
      'committer A <a@x> 1 +0000',
      'data 0',
      '',
    ]
    this.#child.stdin.write(`${[...start, ...changes, ''].join('\n')}\nls :${this.#mark} ""\n`)
    // git calls an empty tree missing.
    const answer = String((await this.#answers.next()).value)
    return /^040000 tree ([0-9a-f]{40})/.exec(answer)?.[1] ?? emptyTree
  }

  async close(): Promise<void> {
    const closed = this.#child.exitCode === null ? once(this.#child, 'close') : null
    this.#child.stdin.end()
    await closed
    this.#lines.close()
    await this.#repository.close()
  }
}

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const quoted = (path: string) => `"${path.replace(/["\\]/g, '\\$&')}"`
const change = (path: string, { mode, content }: { mode: string; content: string }) => [
  `M ${mode} inline ${quoted(path)}`,
  `data ${Buffer.byteLength(content)}`,
  content,
]

/**
 * Applies one action to a flat list of files, by the rules of the contract.
 *
 * @returns the commands for git's importer; null when the action is refused
 */
function apply(files: Files, given: TextAction): string[] | null {
  const { action, file_path: path, previous_path = '', content = '', execute_filemode } = given
  const standing = files.get(action === 'move' ? previous_path : path)
  if (action === 'create' || (action === 'upsert' && !standing)) return create(files, given)
  if (!standing) return null
  const mode = execute_filemode === undefined ? standing.mode : execute_filemode ? '100755' : '100644'
  if (action === 'delete') return remove(files, path)
  if (action === 'move')
    return move(files, previous_path, path, { mode, content: given.content ?? standing.content })
  return put(files, path, { mode, content: action === 'chmod' ? standing.content : content })
}

const isBlocked = (files: Files, path: string) =>
  [...files.keys()].some((key) => key === path || key.startsWith(`${path}/`) || path.startsWith(`${key}/`))

function create(files: Files, { file_path: path, content = '', execute_filemode }: TextAction) {
  if (isBlocked(files, path)) return null
  return put(files, path, { mode: execute_filemode ? '100755' : '100644', content })
}

function remove(files: Files, path: string): string[] {
  files.delete(path)
  return [`D ${quoted(path)}`]
}

function move(
  files: Files,
  from: string,
  to: string,
  file: { mode: string; content: string },
): string[] | null {
  files.delete(from)
  if (isBlocked(files, to)) return null
  const renamed = from === to ? [] : [`R ${quoted(from)} ${quoted(to)}`]
  return [...renamed, ...put(files, to, file)]
}

function put(files: Files, path: string, file: { mode: string; content: string }): string[] {
  files.set(path, file)
  return change(path, file)
}

const name = fc.constantFrom('a', 'a.b', 'a-b', 'B', 'ü', 'x y', 'q"uote', 'back\\slash', '-rf', 'a\tb')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
const content = fc.constantFrom('', 'text', 'no end', 'CRLF\r\n', 'ünï\0x', 'line\n'.repeat(400))
const anyAction = (paths: fc.Arbitrary<string>): fc.Arbitrary<TextAction> =>
  fc
    .record({
      action: fc.constantFrom('create', 'create', 'upsert', 'update', 'delete', 'move', 'chmod' as const),
      file_path: paths,
      previous_path: paths,
      content,
      mode: fc.constantFrom(true, false, undefined),
      keepsContent: fc.boolean(),
    })
    .map(({ mode, keepsContent, ...action }) => ({
      ...action,
      content: action.action === 'move' && keepsContent ? undefined : action.content,
      encoding: 'text',
      execute_filemode: action.action === 'chmod' ? mode === true : mode,
    }))

/** Generates more objects than are stored in separate files. */
const bulk = fc.array(path, { minLength: 40, maxLength: 60 }).map((paths) =>
  paths.map(
    (filePath, index): TextAction => ({
      action: 'upsert',
      file_path: `bulk/${index}/${filePath}`,
      content: `${index}`,
      encoding: 'text',
    }),
  ),
)
const commits = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.array(anyAction(path), { minLength: 1, maxLength: 6 }) },
    { weight: 1, arbitrary: bulk },
  ),
  { minLength: 1, maxLength: 4 },
)

const who = { name: 'A', email: 'a@x', seconds: 1_700_000_000, offsetMinutes: 0 }
let branches = 0

test('any commits lead to the tree that git itself makes from the same changes, or are refused as a whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      commits,
      asTimeAllows(6_000, async (history) => {
        branches += 1
        const branch = `b${branches}`
        let files: Files = new Map()
        let tip: string | null = null
        for (const actions of history) {
          const next: Files = new Map(files)
          const told = actions.map((action) => apply(next, action))
          const refusedAt = told.indexOf(null)
          const request: CommitRequest = {
            branch,
            tip,
            parent: tip,
            author: who,
            committer: who,
            message: 'm',
            edits: [],
          }
          const write = async (): Promise<Commit> =>
            writeCommit(repository, { ...request, edits: readActions(actions) })
          if (refusedAt >= 0) {
            // The model continues after a refusal, so only the first refusal counts.
            await expect(write()).rejects.toMatchObject({ extra: { action_index: refusedAt } })
            expect(await findBranchTip(repository, branch)).toBe(tip)
            continue
          }
          const commit = await write()
          expect(commit.treeId).toBe(
            await importer.commit(
              branch,
              told.flatMap((lines) => lines ?? []),
            ),
          )
          files = next
          tip = commit.id
        }
        if (tip !== null) await expectFiles(branch, files)
      }),
    ),
    { numRuns: 150 },
  )
  expect(await ours.git('fsck', '--strict', '--no-dangling')).toBe('')
})

/** Reads the branch back with git. */
async function expectFiles(branch: string, files: Files): Promise<void> {
  const listed = await ours.git('ls-tree', '-r', '-z', branch)
  const expected = [...files].map(([file, { mode }]) => `${mode} ${file}`)
  const found = listed.split('\0').filter(Boolean)
  expect(found.map((line) => line.replace(/ blob [0-9a-f]{40}\t/, ' ')).sort()).toEqual(expected.sort())
}
