import type { LeasedSaga } from '@switchyard/contracts/saga-recovery'

/** gRPC clients accept messages of 4 MiB by default. */
const headsBytesMax = 2 * 1024 * 1024

/** Shortens the heads of payloads so that all heads together fit into one message. */
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
