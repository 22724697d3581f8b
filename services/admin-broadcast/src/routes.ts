import { type Caller, requireAdministrator, requireUnboundToken } from '@switchyard/domain/access'
import {
  anyone,
  documented,
  type Guard,
  type Route,
  readingScopes,
  route,
} from '@switchyard/service-kit/http'
import { getBannerScript, type LiveDependencies, listActiveMessages, streamMessages } from './live/routes.js'
import type { MessageDependencies } from './messages/messages.js'
import { createMessage, deleteMessage, getMessage, listMessages, updateMessage } from './messages/routes.js'

/** Administrators, and tokens and CI jobs to which an administrator gave the scope. */
const mayManage: Guard<Caller> = documented(
  { who: 'administrators, and tokens with the scope `manage_broadcasts`' },
  (call) => {
    const { caller } = call
    if (caller?.token.scopes.includes('manage_broadcasts')) return requireUnboundToken(caller)
    return requireAdministrator(caller, ...readingScopes(call))
  },
)

export const routes = (dependencies: MessageDependencies & LiveDependencies): Route[] => [
  // These routes precede those with an id, which would match their names.
  route('GET', '/broadcast_messages/active', anyone, listActiveMessages(dependencies), {
    refusesUnknown: true,
  }),
  route('GET', '/broadcast_messages/stream', anyone, streamMessages(dependencies), { refusesUnknown: true }),
  route('GET', '/broadcast_messages/banner.js', anyone, getBannerScript()),
  route('GET', '/broadcast_messages', mayManage, listMessages(dependencies)),
  route('POST', '/broadcast_messages', mayManage, createMessage(dependencies)),
  route('GET', '/broadcast_messages/:id', mayManage, getMessage(dependencies)),
  route('PUT', '/broadcast_messages/:id', mayManage, updateMessage(dependencies)),
  route('DELETE', '/broadcast_messages/:id', mayManage, deleteMessage(dependencies)),
]
