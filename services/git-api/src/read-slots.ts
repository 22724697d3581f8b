import { Slots } from '@switchyard/service-kit/slots'

const waitMs = 30_000

/**
 * Creates slots for requests that read things which take much memory or time. A sender has one of them.
 *
 * @param things plural noun for the messages of refused requests
 */
export const createReadSlots = (total: number, things: string): Slots =>
  new Slots(
    { total, perSender: 1, waitMs, waitingMax: 2_000, waitingPerSenderMax: 50 },
    {
      sender: `You have too many requests for ${things} under way. Try again later.`,
      everybody: `too many ${things} are read`,
      retryAfterMs: waitMs,
    },
  )
