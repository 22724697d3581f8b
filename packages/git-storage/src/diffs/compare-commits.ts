import { DomainError } from '@switchyard/domain'
import { type GitResult, isTooHard, runGitOk } from '../processes/git-process.js'
import type { Repository } from '../repository.js'

const timeoutMs = 20_000
/**
 * Time after which a comparison that took too long is tried again, because the machine may have been busy.
 */
const tooSlowHoldsMs = 60_000

/** Flags that compare a commit with its first parent, and a root commit with the empty tree. */
const flags = ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--always']

/** Kinds of comparisons of commits with their first parents, as flags of `git diff-tree`. */
export const comparisons = {
  numstat: ['--numstat'],
  patch: ['-z', '--raw', '--patch', '--no-color', '--no-ext-diff', '--no-textconv', '--full-index'],
  /** The list of changed files with the numbers of added and removed lines of each, without patches. */
  changes: ['-z', '--raw', '--numstat', '--full-index'],
  /**
   * The list of changed files without patches. It reads no file, so it finds only renames that keep the
   * content.
   */
  names: ['-M100%', '-z', '--raw', '--full-index'],
}

export type Comparison = keyof typeof comparisons

/** The error for a commit that git cannot compare with its first parent. */
export class Incomparable extends DomainError {
  /**
   * True: the comparison needs more memory than git may use, so it always fails. False: it took too long this
   * time.
   */
  readonly isPermanent: boolean

  constructor(cause: DomainError) {
    const isPermanent = cause.kind === 'too-large'
    const detail = isPermanent
      ? 'The commit changes more than can be compared: git ran out of the memory it may use for it'
      : cause.detail
    super(cause.kind, detail, { cause: cause.cause })
    this.isPermanent = isPermanent
  }
}

/**
 * Compares commits with their first parents, and root commits with the empty tree. The error of a single
 * commit is cached.
 *
 * @throws Incomparable when one commit is too large, or the comparison of all commits takes too long
 */
export async function compareCommits(
  repository: Repository,
  comparison: Comparison,
  ids: readonly string[],
  stdoutBytesMax: number,
): Promise<GitResult> {
  const { path, engine } = repository
  const keys = ids.map((id) => `compared ${comparison} ${id}`)
  for (const key of keys) {
    const known = engine.cache.getRefusal(path, key)
    if (known) throw known
  }
  const stdin = ids.map((id) => `${id}\n`).join('')
  const limits = { timeoutMs, stdoutBytesMax, memoryBytesMax: engine.slots.processBytesMax }
  try {
    const command = { command: 'diff-tree', flags: [...flags, ...comparisons[comparison]] }
    return await runGitOk(repository, command, { stdin, ...limits })
  } catch (error) {
    if (!isTooHard(error)) throw error
    const refusal = new Incomparable(error)
    const [key] = keys
    if (key !== undefined && keys.length === 1) {
      engine.cache.setRefusal(path, key, refusal, refusal.isPermanent ? undefined : tooSlowHoldsMs)
    }
    throw refusal
  }
}
