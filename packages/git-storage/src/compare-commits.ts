import { DomainError } from '@switchyard/domain'
import type { Answer, ChildKind } from './children/git-child.js'
import { isTooHard } from './git-process.js'
import type { OpenRepository } from './open-repository.js'

const timeoutMs = 20_000
/** A comparison that took too long is tried again after this time, because the machine may have been busy. */
const tooSlowHoldsMs = 60_000

/** git cannot compare a commit with its first parent. */
export class Incomparable extends DomainError {
  /** True: the comparison needs more memory than git may use, so it always fails. False: it took too long this time. */
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
 * Compares commits with their first parents, and root commits with the empty tree. The error of a single commit is cached.
 *
 * @throws Incomparable when one commit is too large, or the comparison of all commits takes too long
 */
export async function compareCommits(
  repository: OpenRepository,
  kind: ChildKind,
  ids: readonly string[],
  answerBytesMax: number,
): Promise<Answer> {
  const { path, engine } = repository
  const keys = ids.map((id) => `${kind.name} ${id}`)
  for (const key of keys) {
    const known = engine.cache.getRefusal(path, key)
    if (known) throw known
  }
  const question = { input: ids.map((id) => `${id}\n`).join(''), answerBytesMax, timeoutMs }
  try {
    return await engine.children.ask(path, kind, question, repository)
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
