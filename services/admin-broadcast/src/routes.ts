import { administrator, anyone, type Route, route } from '@switchyard/service-kit/http'
import { getBannerScript, type LiveDependencies, listActiveMessages, streamMessages } from './live/routes.js'
import type { MessageDependencies } from './messages/messages.js'
import { createMessage, deleteMessage, getMessage, listMessages, updateMessage } from './messages/routes.js'

export const routes = (dependencies: MessageDependencies & LiveDependencies): Route[] => [
  // These routes precede those with an id, which would match their names.
  route('GET', '/broadcast_messages/active', anyone, listActiveMessages(dependencies), {
    refusesUnknown: true,
  }),
  route('GET', '/broadcast_messages/stream', anyone, streamMessages(dependencies), { refusesUnknown: true }),
  route('GET', '/broadcast_messages/banner.js', anyone, getBannerScript()),
  route('GET', '/broadcast_messages', administrator, listMessages(dependencies)),
  route('POST', '/broadcast_messages', administrator, createMessage(dependencies)),
  route('GET', '/broadcast_messages/:id', administrator, getMessage(dependencies)),
  route('PUT', '/broadcast_messages/:id', administrator, updateMessage(dependencies)),
  route('DELETE', '/broadcast_messages/:id', administrator, deleteMessage(dependencies)),
]
