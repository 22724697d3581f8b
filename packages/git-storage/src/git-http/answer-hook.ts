import type { Duplex } from 'node:stream'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { DomainError } from '@switchyard/domain'
import { isZeroId, type PushJudge, type RefChange } from '@switchyard/domain/access'
import { branchesFolder } from '@switchyard/domain/commit'
import pTimeout from 'p-timeout'
import { type FileLocks, findLockedChanges } from '../lfs/locked-changes.js'
import { lacksLfsObjects } from '../lfs/missing-lfs-objects.js'
import type { TakeSpace, WithoutMove } from '../repository.js'
import { findFastForwards, type Move } from './fast-forwards.js'
import { flushPacket, PacketReader, packetLine } from './packet-lines.js'

/** The rules for the references of a push. */
export interface PushRules {
  judge: PushJudge
  /** The files that other users have locked. */
  locks: FileLocks
  /** Whether pointers of Git LFS whose objects are not stored are refused. */
  needsLfsObjects: boolean
  /**
   * Returns the bytes for which the disk has room now. Not called when references are only deleted.
   *
   * @throws DomainError when it has none
   */
  findRoom: () => Promise<number>
  /** Counts the objects that have arrived, before they become part of the repository. */
  takeSpace: TakeSpace
  /** Called when git found no room on the disk. The client receives git's message. */
  noteFullDisk: () => void
  /** Prevents a move of the repository from the answer until git has changed the references. */
  withoutMove: WithoutMove
  /**
   * Receives the changes that git is about to make, and the options of the push. When it rejects with a
   * DomainError, git refuses the changes with the message of the error.
   */
  recordIntent: (changes: readonly RefChange[], options: readonly string[]) => Promise<void>
}

/**
 * Longest time for which the answer prevents a move. git changes references sooner, but keeps running while a
 * client does not read its output.
 */
const moveHeldMsMax = 60_000

/** Number of references that are judged before the event loop runs again. */
const judgedAtOnce = 200

/** The decision about one reference of a push. */
interface Judged {
  /** The name as git sent it. */
  name: string
  change: RefChange
  /** The reason for refusing the reference; null: it is accepted. */
  refusal: string | null
}

/** A reference that a push creates or moves, and its new id. */
interface Addition {
  entry: Judged
  id: string
}

/**
 * Answers the hook `proc-receive` of a push: names the references that git may change. The objects of the
 * push are already stored. Format: "proc-receive" in the manual page githooks.
 *
 * @param hook stream to the hook; it ends without data when git itself refuses every reference
 * @param gitEnded resolves when git has ended
 */
export async function answerHook(
  hook: Duplex,
  path: string,
  rules: PushRules,
  gitEnded: Promise<unknown>,
): Promise<void> {
  try {
    const packets = new PacketReader(hook.iterator({ destroyOnReturn: false }))
    const greeting = await packets.readList()
    if (!greeting) return
    const offered = (greeting[0]?.split('\0')[1] ?? '').split(' ')
    const hasOptions = offered.includes('push-options')
    hook.write(packetLine(`version=1${hasOptions ? '\0push-options' : ''}\n`) + flushPacket, 'latin1')
    const commands = (await packets.readList()) ?? []
    const options = (hasOptions ? ((await packets.readList()) ?? []) : []).map(utf8)
    const judged = await judgeAll(path, commands, rules)
    if (offered.includes('atomic')) refuseAllOrNone(judged)
    await recordIntents(judged, options, rules)
    await answerWithoutMove(hook, judged, rules, gitEnded)
  } finally {
    // When no answer was written, the hook fails and git refuses every reference.
    hook.end()
    hook.resume()
  }
}

async function recordIntents(
  judged: readonly Judged[],
  options: readonly string[],
  { recordIntent }: PushRules,
): Promise<void> {
  const accepted = judged.filter(({ refusal }) => refusal === null)
  try {
    await recordIntent(
      accepted.map(({ change }) => change),
      options,
    )
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    for (const entry of accepted) entry.refusal = error.message
  }
}

async function answerWithoutMove(
  hook: Duplex,
  judged: Judged[],
  { withoutMove }: PushRules,
  gitEnded: Promise<unknown>,
): Promise<void> {
  const answer = () => hook.end(judged.map(answerOf).join('') + flushPacket, 'latin1')
  try {
    await withoutMove(async () => {
      answer()
      await pTimeout(gitEnded, { milliseconds: moveHeldMsMax, message: false })
    })
  } catch (error) {
    // git has the answer, so the references may have changed.
    if (hook.writableEnded) return
    if (!(error instanceof DomainError)) throw error
    for (const entry of judged) entry.refusal ??= 'The repository is being moved. Try again in a moment.'
    answer()
  }
}

async function judgeAll(
  path: string,
  commands: readonly string[],
  { judge, locks, needsLfsObjects }: PushRules,
): Promise<Judged[]> {
  const judged: Judged[] = []
  const additions: Addition[] = []
  const moves = new Map<Move, { entry: Judged; reason: string }>()
  for (const [index, command] of commands.entries()) {
    if (index % judgedAtOnce === judgedAtOnce - 1) await yieldToEventLoop()
    const { change, name } = parseCommand(command)
    // git itself refuses such a name. In an answer, the blank would end the name.
    if (hasBlank(name)) continue
    const verdict = judge(change)
    const entry = { name, change, refusal: verdict.outcome === 'refused' ? verdict.reason : null }
    judged.push(entry)
    if (!isZeroId(change.after)) additions.push({ entry, id: change.after })
    if (verdict.outcome === 'fast-forward') moves.set(change, { entry, reason: verdict.reason })
  }
  const harmless = await findFastForwards(path, [...moves.keys()])
  for (const [move, { entry, reason }] of moves) if (!harmless.has(move)) entry.refusal = reason
  await refuseLockedChanges(path, additions, locks)
  if (needsLfsObjects) await refuseMissingObjects(path, additions)
  return judged
}

const missingObjects =
  'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'

/**
 * Refuses, as GitLab does, every reference that a push creates or moves when one of its pointers has no
 * object.
 */
async function refuseMissingObjects(path: string, additions: readonly Addition[]): Promise<void> {
  const accepted = additions.filter(({ entry }) => entry.refusal === null)
  const lacks = await lacksLfsObjects(
    path,
    accepted.map(({ id }) => id),
  )
  if (lacks) for (const { entry } of accepted) entry.refusal = missingObjects
}

async function refuseLockedChanges(
  path: string,
  additions: readonly Addition[],
  locks: FileLocks,
): Promise<void> {
  const branches = additions.filter(
    ({ entry }) => entry.refusal === null && entry.name.startsWith(branchesFolder),
  )
  const refusals = await findLockedChanges(
    path,
    branches.map(({ id }) => id),
    locks,
  )
  for (const { entry, id } of branches) entry.refusal = refusals.get(id) ?? null
}

/** Parses `<old id> <new id> <name>`. */
function parseCommand(command: string): { change: RefChange; name: string } {
  const [before = '', after = ''] = command.split(' ', 2)
  const name = command.slice(before.length + after.length + 2)
  return { change: { before, after, ref: utf8(name) }, name }
}

/** Blanks and control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses exactly these.
const hasBlank = (name: string) => /[\x00-\x20\x7f]/.test(name)

/** Refuses every reference of an atomic push when one is refused. */
function refuseAllOrNone(judged: readonly Judged[]): void {
  if (judged.every(({ refusal }) => refusal === null)) return
  for (const entry of judged) entry.refusal ??= 'Another reference of this atomic push is refused'
}

/**
 * Returns the answer about a reference. An accepted reference "falls through" to git, which changes it unless
 * another push has changed it.
 */
const answerOf = ({ name, refusal }: Judged): string =>
  refusal === null
    ? packetLine(`ok ${name}\n`) + packetLine('option fall-through\n')
    : packetLine(`ng ${name} ${latin1(refusal)}\n`)

const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString()
const latin1 = (text: string) => Buffer.from(text).toString('latin1')
