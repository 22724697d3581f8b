import { DomainError } from '@switchyard/domain'
import { type Answer, type ChildKind, isTooHard } from './children/git-child.js'
import type { OpenRepository } from './open-repository.js'

const timeoutMs = 20_000
/** A commit that took too long may have met a busy machine, so it is compared again after this time. */
const tooSlowHoldsMs = 60_000

/** git cannot say what a commit changed. */
export class Incomparable extends DomainError {
  /** It never can: the commit needs more memory than there is. Otherwise it took too long. */
  readonly forGood: boolean

  constructor(cause: DomainError) {
    const forGood = cause.kind === 'too-large'
    const detail = forGood
      ? 'The commit changes more than can be compared: git ran out of the memory it may use for it'
      : cause.detail
    super(cause.kind, detail, { cause: cause.cause })
    this.forGood = forGood
  }
}

/**
 * Compares commits with their first parents, each with nothing when it is a root. A commit that cannot be compared by
 * itself is remembered, so that asking again costs nothing.
 *
 * @throws Incomparable when one of them is too large, or all of them take too long
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
      engine.cache.setRefusal(path, key, refusal, refusal.forGood ? undefined : tooSlowHoldsMs)
    }
    throw refusal
  }
}
