import { unauthenticated } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { documented, type Guard } from '@switchyard/service-kit/http'

/** Whoever holds a token may look at it, replace it and give it up, whatever its scopes are. */
export const tokenHolder: Guard<Caller> = documented({ who: 'whoever holds the token' }, ({ caller }) => {
  if (!caller) throw unauthenticated()
  return caller
})
