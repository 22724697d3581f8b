import { type Commit, storedPath } from '@switchyard/domain/commit'
import { type FileEntry, findFile, namesOf } from '../files/trees.js'
import { objectChild } from '../processes/child-kinds.js'
import { linesOf, runGitOk } from '../processes/git-process.js'
import { pathArguments } from '../processes/path-arguments.js'
import type { Repository } from '../repository.js'
import { findCommit } from './read-commits.js'

/**
 * Most commits between a commit and an earlier one with a known answer. A longer way takes more time than a
 * process of git.
 */
const stepsMax = 16

interface LastCommit {
  /** Null: no commit has the path. */
  id: string | null
}

/**
 * Finds the newest commit that changed a path, among `from` and its ancestors, as `git rev-list --max-count=1
 * FROM -- PATH` does; null when none did. No process is started when the answer is known for a commit shortly
 * before.
 *
 * @param from a full hash
 */
export async function findLastCommitOf(
  repository: Repository,
  from: string,
  filePath: string,
): Promise<string | null> {
  const { path, engine } = repository
  const keyOf = (commitId: string) => `last commit ${commitId} ${filePath}`
  const recall = (commitId: string) => engine.cache.get<LastCommit>(path, keyOf(commitId))
  const remember = (key: string, value: object) => engine.cache.set(path, key, value, 2 * key.length)
  const known = recall(from)
  if (known) return known.id
  // The commits before are only searched for a path that was asked about before.
  const mark = `last commit of ${filePath}`
  const isAskedAgain = engine.cache.get(path, mark) !== undefined
  const found = (isAskedAgain && (await lookBack(repository, { from, filePath, recall }))) || {
    id: await askGit(repository, from, filePath),
  }
  remember(keyOf(from), found)
  remember(mark, {})
  return found.id
}

interface Look {
  from: string
  filePath: string
  recall(commitId: string): LastCommit | undefined
}

/**
 * Follows first parents up to a commit with a known answer. When a commit and its first parent have the same
 * file at the path, git ignores the commit and continues with that parent only. So both commits have the same
 * answer, even if the commit is a merge.
 *
 * @returns null when no answer is known nearby, or when only git can find it
 */
async function lookBack(
  repository: Repository,
  { from, filePath, recall }: Look,
): Promise<LastCommit | null> {
  const names = namesOf(filePath)
  // git reads a path with empty names differently; a slash at the end, for example, means a folder.
  if (names.includes('') || names.join('/') !== storedPath(filePath)) return null
  const chain = [from, ...(await firstParentsOf(repository, from))]
  const end = chain.findIndex((id) => recall(id))
  if (end === -1) return null
  let child = await readState(repository, from, filePath)
  for (const id of chain.slice(1, end + 1)) {
    const parent = await readState(repository, id, filePath)
    if (!child?.file || !parent) return null
    if (!isSame(child.file, parent.file)) {
      // A merge may have the file of another parent.
      return child.commit.parentIds.length === 1 ? { id: child.commit.id } : null
    }
    child = parent
  }
  return recall(chain[end] ?? '') ?? null
}

/** Returns the ids of the commits before a commit, each the first parent of the previous one. */
async function firstParentsOf(repository: Repository, from: string): Promise<string[]> {
  const names = Array.from({ length: stepsMax }, (_, index) => `${from}~${index + 1}`)
  const question = {
    input: names.map((name) => `info ${name}\n`).join(''),
    answerBytesMax: 100 * (stepsMax + 1),
    timeoutMs: 60_000,
  }
  const { bytes } = await repository.engine.children.ask(repository, objectChild, question)
  const answers = linesOf(bytes).map((line) => /^([0-9a-f]{40}) commit \d+$/.exec(line)?.[1])
  const firstMissing = answers.indexOf(undefined)
  return answers.slice(0, firstMissing === -1 ? undefined : firstMissing).filter((id) => id !== undefined)
}

interface State {
  commit: Commit
  /** Null: the path is a folder, a submodule or nothing. */
  file: FileEntry | null
}

async function readState(repository: Repository, id: string, filePath: string): Promise<State | null> {
  const commit = await findCommit(repository, id)
  return commit && { commit, file: await findFile(repository, commit.treeId, filePath) }
}

const isSame = (file: FileEntry, other: FileEntry | null) =>
  file.blobId === other?.blobId && file.mode === other.mode

async function askGit(repository: Repository, from: string, filePath: string): Promise<string | null> {
  const { flags, paths, stdin = '' } = pathArguments(filePath)
  const { stdout } = await runGitOk(
    repository,
    { command: 'rev-list', flags: ['--max-count=1', ...flags], revisions: [from], ...(paths && { paths }) },
    { stdin },
  )
  return linesOf(stdout)[0] ?? null
}
