import type { LeasedSaga } from '@switchyard/contracts/saga-recovery'

/** Clients take 4 MiB in one message unless they say otherwise. */
const headsBytesMax = 2 * 1024 * 1024

/** Cuts the heads of payloads so that all of them together fit into one message. */
export function fitHeads(sagas: LeasedSaga[], bytesMax = headsBytesMax): LeasedSaga[] {
  const payloads = sagas.flatMap(({ activities }) =>
    activities.flatMap(({ parameter, result }) =>
      [parameter, result].filter((payload) => payload !== undefined),
    ),
  )
  const bytes = payloads.reduce((sum, { head }) => sum + head.length, 0)
  if (bytes <= bytesMax) return sagas
  const each = Math.floor(bytesMax / payloads.length)
  for (const payload of payloads) payload.head = payload.head.subarray(0, each)
  return sagas
}
