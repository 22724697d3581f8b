import {
  type Call,
  linkOf,
  linkParameters,
  ok,
  parameterProblem,
  type Reply,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import type { ActivityPosition } from '../activities/store.js'
import type { SagaOrder, SagaPosition } from './search.js'

/** Returns the position at which a page begins, as an opaque text. */
export const writeCursor = ({ by, direction }: SagaOrder, { at, id }: SagaPosition): string =>
  Buffer.from(JSON.stringify([by, direction, at?.getTime() ?? null, id])).toString('base64url')

const cursorShape = z.tuple([z.string(), z.string(), z.int().nullable(), z.string()])

/**
 * Returns the position of a cursor.
 *
 * @param name the name of the parameter in errors
 * @throws DomainError invalid-parameters when the cursor belongs to another order
 */
export function readCursor(order: SagaOrder, cursor: string, name = 'cursor'): SagaPosition {
  const parsed = cursorShape.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  const [by, direction, at, id] = parsed.data ?? []
  const timed = order.by !== 'id'
  if (
    by !== order.by ||
    direction !== order.direction ||
    id === undefined ||
    timed !== (typeof at === 'number')
  )
    throw parameterProblem(name, 'is invalid')
  return { at: typeof at === 'number' ? dateOf(at, name) : null, id: withoutNul(id, name) }
}

/** Returns the position at which a page of a saga's activities begins, as an opaque text. */
export const writeActivityCursor = ({ order, firstSeenAt, id }: ActivityPosition): string =>
  Buffer.from(JSON.stringify([order, firstSeenAt.getTime(), id])).toString('base64url')

const activityCursorShape = z.tuple([z.int32().nullable(), z.int(), z.string()])

/** @throws DomainError invalid-parameters when the text is not a cursor of activities */
export function readActivityCursor(cursor: string, name: string): ActivityPosition {
  const parsed = activityCursorShape.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()))
  if (!parsed.data) throw parameterProblem(name, 'is invalid')
  const [order, at, id] = parsed.data
  return { order, firstSeenAt: dateOf(at, name), id: withoutNul(id, name) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns a date, which must be one that PostgreSQL can store. */
function dateOf(ms: number, name: string): Date {
  if (Math.abs(ms) > 4e12) throw parameterProblem(name, 'is invalid')
  return new Date(ms)
}

function withoutNul(id: string, name: string): string {
  if (id.includes('\0')) throw parameterProblem(name, 'is invalid')
  return id
}

/** The headers of a page of a list without page numbers. */
export const cursorHeaders = {
  Link: 'The page `next`; missing on the last page',
  'X-Next-Cursor': 'The start of the next page; missing on the last page',
  'X-Per-Page': 'Rows per page',
}

/**
 * Returns a page of a list without page numbers: `Link` and `X-Next-Cursor` name the next page, and are
 * missing on the last page.
 *
 * @param next the parameter that selects the next page; null on the last page
 */
export function cursorReply(
  items: unknown[],
  perPage: number,
  next: { parameter: string; value: string } | null,
  call: Call,
): Reply {
  const headers = { 'X-Per-Page': String(perPage) }
  if (next === null) return ok(items, headers)
  const { pathname, parameters: searchParams } = linkParameters(call)
  searchParams.set(next.parameter, next.value)
  searchParams.set('per_page', String(perPage))
  searchParams.sort()
  const link = `<${call.baseUrl}${pathname}?${searchParams}>; rel="next"`
  return ok(items, { ...headers, ...linkOf([link]), 'X-Next-Cursor': next.value })
}
