import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { DomainError } from '@switchyard/domain'
import type { RefChange } from '@switchyard/domain/access'
import { stopGit } from '../processes/git-process.js'
import { StallGuard } from '../processes/stall-guard.js'
import { removeStaleRefLocks } from '../references/stale-locks.js'
import { answerHook, type PushRules } from './answer-hook.js'
import { answerRoom } from './answer-room.js'
import { converse, type GitSession, readText, stallError, start } from './git-session.js'
import { PushRefused, pushLimits, readPushHead } from './push-head.js'
import { syncReferences } from './sync-references.js'

// Resolved by package name, because a bundled service has no folder beside this module.
const hooksPath = dirname(
  createRequire(import.meta.url).resolve('@switchyard/git-storage/hooks/proc-receive'),
)

/** Number of references above which the file system is flushed once, instead of each file by git. */
const flushedAloneMax = 100
/** Largest pack of a push. */
const packBytesMax = 2200 * 1024 * 1024
const fullDiskText = 'No space left on device'
/** Time for git to notice the end of its input. */
const abandonedMs = 3000

/**
 * Serves a push with git and changes the references that the rules allow. When the promise resolves, the
 * changed references are durable, and the caller ends `output`.
 *
 * @returns the changed references in the order of the push
 * @throws DomainError too-large beyond {@link pushLimits} when the client did not ask for a report; otherwise
 *   as `serveFetch`
 */
export async function servePush(
  session: GitSession,
  input: Readable,
  output: Writable,
  rules: PushRules,
): Promise<RefChange[]> {
  const begun = await begin(session, input, rules).catch((error: unknown) => {
    if (!(error instanceof PushRefused)) throw error
    if (error.report === null) throw error.reason
    output.write(Buffer.from(error.report))
    return null
  })
  if (!begun) return []
  const { head, room } = begun
  await removeStaleRefLocks(session.path)
  const flushTogether = head.commandCount > flushedAloneMax
  const child = start(session, 'git-receive-pack', {
    hooksPath,
    hookStreams: 3,
    settings: [
      `receive.maxInputSize=${Math.min(packBytesMax, room)}`,
      ...(flushTogether ? ['core.fsync=objects'] : []),
    ],
  })
  const [report, hook, roomHook] = child.stdio.slice(3) as unknown as [Readable, Duplex, Duplex]
  const reported = readText(report, pushLimits.commandBytesMax)
  const answered = Promise.all([
    answerHook(hook, session.path, rules, reported),
    answerRoom(roomHook, session.path, rules.takeSpace),
  ])
  // The rejection is handled below, when git has ended.
  answered.catch(() => undefined)
  // At the end of its input, git removes the received objects. After a signal, its child process may still
  // write some.
  const abandon = () => {
    child.stdin.destroy()
    const timer = setTimeout(() => stopGit(child), abandonedMs)
    child.once('close', () => clearTimeout(timer))
  }
  const fullDisk = noticeFullDisk(child)
  const { failure } = await converse(session, 'git-receive-pack', child, head.body, output, abandon)
  if (fullDisk.noticed) rules.noteFullDisk()
  const changes = changesOf(await reported)
  if (changes.length > 0) {
    if (flushTogether) await syncReferences(session.path, changes)
    return changes
  }
  if (failure) throw failure
  if (!session.signal.aborted) await answered
  return []
}

/** Searches the output of git, which goes to the client, for the message of a full disk. */
function noticeFullDisk({ stdout, stderr }: ReturnType<typeof start>): { noticed: boolean } {
  const found = { noticed: false }
  for (const stream of [stdout, stderr]) {
    let text = ''
    stream.on('data', (chunk: Buffer | string) => {
      text = text.slice(-fullDiskText.length) + chunk.toString('latin1')
      if (text.includes(fullDiskText)) found.noticed = true
    })
  }
  return found
}

/**
 * Reads the head of a push, and checks that there is room.
 *
 * @throws as {@link readHead}, and PushRefused when there is no room for the push
 */
async function begin(session: GitSession, input: Readable, { findRoom }: PushRules) {
  const head = await readHead(session, input)
  if (!head.adds) return { head, room: packBytesMax }
  const room = await findRoom().catch((error: unknown) => {
    throw error instanceof DomainError ? head.refuse(error) : error
  })
  return { head, room }
}

/**
 * Reads the head of a push.
 *
 * @throws also DomainError timed-out when the client stalls before its pack begins
 */
async function readHead(session: GitSession, input: Readable) {
  const guard = new StallGuard(
    session.idleMs,
    () => true,
    () => input.destroy(stallError(session)),
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

/** Parses the lines of the hook `post-receive`. */
const changesOf = (report: string): RefChange[] =>
  [...report.matchAll(/^([0-9a-f]+) ([0-9a-f]+) (.+)$/gm)].map(([, before = '', after = '', ref = '']) => ({
    before,
    after,
    ref,
  }))
