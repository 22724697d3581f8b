import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { PushJudge, RefChange } from '@switchyard/domain/access'
import { stopGit } from '../git-process.js'
import { converse, type GitSession, standsStill, start, textOf } from '../git-session.js'
import { StallGuard } from '../stall-guard.js'
import { removeStaleRefLocks } from '../writing/stale-locks.js'
import { answerHook } from './answer-hook.js'
import { PushRefused, pushLimits, readPushHead } from './push-head.js'
import { syncReferences } from './sync-references.js'

export interface PushResult {
  /** References that have changed, in the order of the push. */
  changes: RefChange[]
  /** As the client sent them: `git push -o ci.skip`. */
  options: string[]
}

// By name, as a bundled service has no folder beside this module.
const hooksPath = dirname(
  createRequire(import.meta.url).resolve('@switchyard/git-storage/hooks/proc-receive'),
)

/** With more references than this, all of them are flushed to the disk together. */
const flushedAloneMax = 100
/** For git to notice that nothing more comes. */
const abandonedMs = 3000

/**
 * Lets git take a push, of whose references each one is changed that the judge allows. The answer is complete when this
 * returns, and left for the caller to end; the changed references are on disk by then.
 *
 * @throws DomainError too-large beyond {@link pushLimits} where the client cannot be told in git's protocol; and as
 *   `serveFetch`
 */
export async function servePush(
  session: GitSession,
  input: Readable,
  output: Writable,
  judge: PushJudge,
): Promise<PushResult> {
  const nothing = { changes: [], options: [] }
  const head = await readHead(session, input).catch((error: unknown) => {
    if (!(error instanceof PushRefused)) throw error
    if (error.report === null) throw error.asDomainError()
    output.write(error.report, 'latin1')
    return null
  })
  if (!head) return nothing
  await removeStaleRefLocks(session.path)
  const flushTogether = head.commandCount > flushedAloneMax
  const child = start(session, 'git-receive-pack', {
    hooksPath,
    hookStreams: 2,
    settings: flushTogether ? ['core.fsync=objects'] : [],
  })
  const [, , , report, hook] = child.stdio as unknown as [unknown, unknown, unknown, Readable, Duplex]
  const reported = textOf(report, pushLimits.commandBytesMax)
  const options = answerHook(hook, session.path, judge)
  // It is looked at when git has ended.
  options.catch(() => undefined)
  // When its input ends, git removes what it was sent. Ended by a signal, it does so while its child still writes.
  const abandon = () => {
    child.stdin.destroy()
    const timer = setTimeout(() => stopGit(child), abandonedMs)
    child.once('close', () => clearTimeout(timer))
  }
  const { failure } = await converse(session, 'git-receive-pack', child, head.body, output, abandon)
  const changes = changesOf(await reported)
  if (changes.length > 0) {
    if (flushTogether) await syncReferences(session.path, changes)
    return { changes, options: await options }
  }
  if (failure) throw failure
  if (!session.signal.aborted) await options
  return nothing
}

/** @throws also DomainError timed-out when the client stands still before its pack begins */
async function readHead(session: GitSession, input: Readable) {
  const guard = new StallGuard(
    session.idleMs,
    () => true,
    () => input.destroy(standsStill(session)),
  )
  const moved = () => guard.moved()
  input.on('readable', moved)
  try {
    return await readPushHead(input)
  } finally {
    input.off('readable', moved)
    guard.stop()
  }
}

/** The lines that the hook `post-receive` passes on. */
const changesOf = (report: string): RefChange[] =>
  [...report.matchAll(/^([0-9a-f]+) ([0-9a-f]+) (.+)$/gm)].map(([, before = '', after = '', ref = '']) => ({
    before,
    after,
    ref,
  }))
