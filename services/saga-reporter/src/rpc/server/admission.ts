import { type Metadata, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'
import { unavailable } from '@switchyard/domain'
import type { Logger } from '@switchyard/service-kit/observability'
import { isPastDeadline } from './deadline.js'
import { takeDroppedKeys } from './dropped-keys.js'
import { failureOf } from './errors.js'
import type { MessageSlot, MessageSlots } from './message-slots.js'
import { isExpected } from './unary.js'

/** A call whose headers have arrived. */
export interface ArrivedCall {
  metadata: Metadata
  /** Keys whose values the library cannot read, and which are missing in the metadata. */
  droppedKeys: readonly string[]
  /** `host:port` of the other end of the connection. */
  peer: string
  getAuthContext: ServerInterceptingCall['getAuthContext']
}

/**
 * Checks a call by its headers.
 *
 * @throws DomainError when the call is refused
 */
export type Admit = (call: ArrivedCall) => unknown

/** Checks calls by their headers, and keeps the result of each for its handler. */
export interface Admission<Admitted> {
  admit: Admit
  /** The result of the check of an admitted call. */
  of: (call: { metadata: Metadata }) => Admitted
}

export function createAdmission<Admitted extends object>(
  judge: (call: ArrivedCall) => Admitted | Promise<Admitted>,
): Admission<Admitted> {
  // A handler gets the same object of metadata as the interceptors before it.
  const admitted = new WeakMap<Metadata, Admitted>()
  return {
    admit: async (call) => {
      admitted.set(call.metadata, await judge(call))
    },
    of: ({ metadata }) => {
      const found = admitted.get(metadata)
      if (!found) throw new Error('a call reached its handler without having been admitted')
      return found
    },
  }
}

interface AdmissionOptions {
  /** Checks a call of the method with this path. */
  admit: (path: string, call: ArrivedCall) => unknown
  messageSlots: MessageSlots
  logger: Logger
}

/**
 * Checks every call when its headers arrive. A refused call is answered before its message is read; the message of an
 * admitted one is read once there is a slot for it.
 */
export function admission({ admit, messageSlots, logger }: AdmissionOptions): ServerInterceptor {
  return ({ path }, call) => {
    const peer = call.getPeer()
    const droppedKeys = takeDroppedKeys()
    let slot: MessageSlot | undefined
    let isWhole = false
    let isOver = false
    const judge = async (metadata: Metadata) => {
      // The library lets a call through whose deadline has passed on arrival, and ends it a moment later.
      if (isPastDeadline(call, Date.now())) throw unavailable('nobody waits for the answer')
      return admit(path, { metadata, droppedKeys, peer, getAuthContext: () => call.getAuthContext() })
    }
    const refuse = (error: unknown) => {
      const isNews = !isExpected(error) && !isPastDeadline(call, Date.now())
      if (isNews) logger.error({ err: error, method: path }, 'a call could not be checked')
      call.sendStatus(failureOf(error, call))
    }
    const isClosed = () => call.getPeer() === 'unknown'
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            judge(metadata).then(() => {
              if (!isOver) slot = messageSlots.enter(peer, () => pass(metadata), isClosed)
            }, refuse)
          },
          onReceiveHalfClose: (pass) => {
            isWhole = true
            slot?.leave()
            pass()
          },
          onCancel: () => {
            isOver = true
            if (isWhole) return
            if (isClosed()) slot?.leave()
            else slot?.abandon()
          },
        }),
    })
  }
}
