import { setTimeout as delay } from 'node:timers/promises'
import { type Metadata, status } from '@grpc/grpc-js'
import type { Settings } from './options.js'
import { messageOf, serviceError } from './service-error.js'

const reasonCharsMax = 200

/**
 * Adds the token to the metadata of a call.
 *
 * @throws ServiceError UNAVAILABLE when a function returns no usable token now, UNAUTHENTICATED when a text
 * can never be one
 */
export async function addToken(metadata: Metadata, { token, deadlineMs }: Settings): Promise<void> {
  if (token === undefined || token === null) return
  const isFunction = typeof token === 'function'
  const given: unknown = isFunction ? await ask(token, deadlineMs) : token
  const text = typeof given === 'string' ? given.trim() : ''
  // The library quotes a value that it refuses, and a token must not appear anywhere.
  if (/^[!-~]+$/.test(text)) metadata.set('authorization', `Bearer ${text}`)
  else
    throw serviceError(
      isFunction ? status.UNAVAILABLE : status.UNAUTHENTICATED,
      'the token is not a text of printable ASCII without blanks',
    )
}

/**
 * Asks the function for a token.
 *
 * @throws ServiceError UNAVAILABLE
 */
async function ask(token: () => unknown, deadlineMs: number): Promise<unknown> {
  const timer = new AbortController()
  const late = delay(deadlineMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error('it took too long')
  })
  try {
    return await Promise.race([token(), late])
  } catch (error) {
    const reason = messageOf(error).slice(0, reasonCharsMax)
    throw serviceError(status.UNAVAILABLE, `the token cannot be got: ${reason}`)
  } finally {
    late.catch(() => {})
    timer.abort()
  }
}
