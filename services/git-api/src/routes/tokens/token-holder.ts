import { unauthenticated } from '@switchyard/domain'
import { type Caller, requireScope } from '@switchyard/domain/access'
import { documented, type Guard } from '@switchyard/service-kit/http'

/** Every token may be looked at and given up with itself, whatever its scopes are. */
export const tokenHolder: Guard<Caller> = documented({ who: 'every token that works' }, ({ caller }) => {
  if (!caller) throw unauthenticated()
  return caller
})

/** Only tokens that were made for it replace themselves: a leaked reading token does not lock its owner out. */
export const selfRotation: Guard<Caller> = documented(
  { who: 'tokens with the scope `api` or `self_rotate`' },
  ({ caller }) => requireScope(caller, 'self_rotate'),
)
