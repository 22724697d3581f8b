import { type Caller, requireAdministrator, requireUnboundToken } from '@switchyard/domain/access'
import { type BroadcastInput, broadcastThemes, broadcastTypes } from '@switchyard/domain/broadcast'
import {
  auditAuthor,
  created,
  documented,
  endpoint,
  flag,
  type Guard,
  integer,
  noContent,
  pageParameters,
  pageReply,
  preconditionOf,
  proseCharsMax,
  type Route,
  readingScopes,
  route,
  rowsOf,
  text,
  time,
  unsupported,
  versioned,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { broadcastMessageShape, presentBroadcastMessage } from '../shapes/broadcast-message.js'
import type { MessageDependencies } from './messages.js'
import * as messages from './messages.js'

/** Guard for administrators, and for tokens and CI jobs with a scope that an administrator has granted. */
const mayManage: Guard<Caller> = documented(
  { who: 'administrators, and tokens with the scope `manage_broadcasts`' },
  (call) => {
    const { caller } = call
    if (caller?.token.scopes.includes('manage_broadcasts')) return requireUnboundToken(caller)
    return requireAdministrator(caller, ...readingScopes(call))
  },
)

export const messageRoutes = (deps: MessageDependencies): Route[] => [
  route('GET', '/broadcast_messages', mayManage, listMessages(deps)),
  route('POST', '/broadcast_messages', mayManage, createMessage(deps)),
  route('GET', '/broadcast_messages/:id', mayManage, getMessage(deps)),
  route('PUT', '/broadcast_messages/:id', mayManage, updateMessage(deps)),
  route('DELETE', '/broadcast_messages/:id', mayManage, deleteMessage(deps)),
]

const rowIdMax = 2_147_483_647

/** The id of a message. An id out of range becomes 0, so that it is not found. */
const messageId = () => integer().transform((id) => (id > 0 && id <= rowIdMax ? id : 0))

/** Requires a year of four digits, which every database and client supports. */
const fourDigitYear = (date: Date) => date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/** A time; empty text counts as null, because a form cannot send null. */
const clearableTime = () =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() === '' ? null : value),
    time()
      .pipe(z.date().refine(fourDigitYear, { error: 'is invalid' }))
      .nullable(),
  )

/** The optional parameters of a message. The domain validates them. */
const optionalMessageParameters = {
  message: text(proseCharsMax).nullable().optional(),
  starts_at: clearableTime().optional(),
  ends_at: clearableTime().optional(),
  color: text().nullable().optional(),
  font: text().nullable().optional(),
  broadcast_type: z.enum(broadcastTypes).optional(),
  dismissable: flag().optional(),
  target_path: text().nullable().optional(),
  theme: z.enum(broadcastThemes).optional(),
  target_access_levels: unsupported('is not supported: a message is for everybody'),
}

/** Returns the parameters under the names of the domain. */
function broadcastInput(given: z.output<z.ZodObject<typeof optionalMessageParameters>>): BroadcastInput {
  const { message, starts_at: startsAt, ends_at: endsAt, color, font, dismissable, theme } = given
  const { broadcast_type: broadcastType, target_path: targetPath } = given
  return { message, startsAt, endsAt, color, font, broadcastType, dismissable, targetPath, theme }
}

const listMessages = (deps: MessageDependencies) =>
  endpoint({
    summary: 'List broadcast messages, newest first',
    replies: { 200: z.array(broadcastMessageShape) },
    input: z.object({
      ...pageParameters,
      ends_after: time().optional().meta({ description: 'Messages that are shown after this time' }),
      starts_before: time().optional().meta({ description: 'Messages that are shown before this time' }),
    }),
    async handle({ ends_after: endsAfter, starts_before: startsBefore, ...page }, _caller, call) {
      const found = await messages.listMessages(deps, { endsAfter, startsBefore }, rowsOf(page))
      const items = found.messages.map((message) => presentBroadcastMessage(message, found.now))
      return pageReply(items, page, found.total, call)
    },
  })

const createMessage = (deps: MessageDependencies) =>
  endpoint({
    summary: 'Create a broadcast message',
    replies: { 201: broadcastMessageShape },
    input: z.object({ ...optionalMessageParameters, message: text(proseCharsMax).nullable() }),
    async handle(given, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      const { message, now } = await messages.createMessage(deps, broadcastInput(given), author)
      return created(presentBroadcastMessage(message, now))
    },
  })

const getMessage = (deps: MessageDependencies) =>
  endpoint({
    summary: 'Get a broadcast message',
    replies: { 200: broadcastMessageShape },
    input: z.object({ id: messageId() }),
    async handle({ id }) {
      const { message, now } = await messages.getMessage(deps, id)
      return versioned(presentBroadcastMessage(message, now), message)
    },
  })

const updateMessage = (deps: MessageDependencies) =>
  endpoint({
    summary: 'Change a broadcast message',
    replies: { 200: broadcastMessageShape },
    refusals: [412],
    input: z.object({ ...optionalMessageParameters, id: messageId() }),
    async handle({ id, ...given }, caller: Caller, call) {
      const author = auditAuthor(caller, call)
      const input = broadcastInput(given)
      const { message, now } = await messages.updateMessage(deps, id, input, author, preconditionOf(call))
      return versioned(presentBroadcastMessage(message, now), message)
    },
  })

const deleteMessage = (deps: MessageDependencies) =>
  endpoint({
    summary: 'Delete a broadcast message',
    replies: { 204: null },
    refusals: [412],
    input: z.object({ id: messageId() }),
    async handle({ id }, caller: Caller, call) {
      await messages.deleteMessage(deps, id, auditAuthor(caller, call), preconditionOf(call))
      return noContent()
    },
  })
