import {
  type AuditAuthor,
  type BroadcastMessage,
  type Database,
  inTransaction,
  type PrismaTransaction,
  type Rows,
  recordAuditEvent,
  requireUnchanged,
} from '@switchyard/db'
import { beginningOf, type Clock, type Precondition } from '@switchyard/domain'
import {
  type BroadcastInput,
  changedBroadcastFields,
  newBroadcastMessage,
} from '@switchyard/domain/broadcast'
import {
  type BroadcastTimes,
  createBroadcastMessage,
  deleteBroadcastMessage,
  getBroadcastMessage,
  listBroadcastMessages,
  updateBroadcastMessage,
} from './store.js'

export interface MessageDependencies {
  database: Database
  clock: Clock
  changeNotices: { announce(message?: BroadcastMessage): Promise<void> }
}

const noteLengthMax = 200

/** A message, and the instant for which `active` is shown. */
interface MessageAt {
  message: BroadcastMessage
  now: Date
}

export async function listMessages(
  { database, clock }: MessageDependencies,
  times: BroadcastTimes,
  rows: Rows,
) {
  return { ...(await listBroadcastMessages(database, times, rows)), now: clock() }
}

/** @throws DomainError not-found */
export async function getMessage({ database, clock }: MessageDependencies, id: number): Promise<MessageAt> {
  return { message: await getBroadcastMessage(database, id), now: clock() }
}

/** @throws DomainError invalid, by field */
export async function createMessage(
  deps: MessageDependencies,
  given: BroadcastInput,
  author: AuditAuthor,
): Promise<MessageAt> {
  const now = deps.clock()
  const fields = newBroadcastMessage(given, now)
  const message = await auditedChange(deps, author, 'broadcast_message_created', (transaction) =>
    createBroadcastMessage(transaction, fields),
  )
  await deps.changeNotices.announce(message)
  return { message, now }
}

/**
 * Changes the fields that are given.
 *
 * @throws DomainError not-found; precondition-failed; invalid, by field
 */
export async function updateMessage(
  deps: MessageDependencies,
  id: number,
  given: BroadcastInput,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<MessageAt> {
  const now = deps.clock()
  const changes = changedBroadcastFields(given)
  const message = await auditedChange(deps, author, 'broadcast_message_changed', async (transaction) => {
    await requireUnchanged(transaction, 'broadcast_messages', { id }, precondition)
    return updateBroadcastMessage(transaction, id, changes, now)
  })
  await deps.changeNotices.announce(message)
  return { message, now }
}

/**
 * Deletes a message.
 *
 * @throws DomainError not-found; precondition-failed
 */
export async function deleteMessage(
  deps: MessageDependencies,
  id: number,
  author: AuditAuthor,
  precondition?: Precondition,
): Promise<void> {
  await auditedChange(deps, author, 'broadcast_message_deleted', async (transaction) => {
    await requireUnchanged(transaction, 'broadcast_messages', { id }, precondition)
    const message = await getBroadcastMessage(transaction, id)
    await deleteBroadcastMessage(transaction, id)
    return message
  })
  await deps.changeNotices.announce()
}

/** Changes a message and records the change in the audit log, atomically. */
const auditedChange = (
  { database }: MessageDependencies,
  author: AuditAuthor,
  eventName: 'broadcast_message_created' | 'broadcast_message_changed' | 'broadcast_message_deleted',
  change: (transaction: PrismaTransaction) => Promise<BroadcastMessage>,
): Promise<BroadcastMessage> =>
  inTransaction(database, async (transaction) => {
    const message = await change(transaction)
    await recordAuditEvent(transaction, author, {
      eventName,
      entityType: 'BroadcastMessage',
      entityId: message.id,
      details: {
        message: beginningOf(message.message, noteLengthMax),
        starts_at: message.startsAt.toISOString(),
        ends_at: message.endsAt.toISOString(),
      },
    })
    return message
  })
