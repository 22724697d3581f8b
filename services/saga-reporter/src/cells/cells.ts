import { Client, credentials } from '@grpc/grpc-js'
import { unavailable } from '@switchyard/domain'
import type { Metrics } from '@switchyard/service-kit/observability'
import { Counter } from 'prom-client'
import type { CellAddress } from './cell-settings.js'
import type { TenantMap } from './tenant-map.js'

export interface OtherCell {
  name: string
  /** `http://host:port` */
  http: string
  grpc: Client
}

/** The cells of this installation, as the reporters of one of them see the others. */
export interface Cells {
  /** Name of the cell of this process. */
  own: string
  /**
   * The cell that answers for a tenant; null: this one.
   *
   * @param isForwarded another cell has sent the call here
   * @throws DomainError unavailable when the cell is not known, or the call was forwarded and the tenant is not here either
   */
  ofTenant: (tenant: string, isForwarded: boolean) => OtherCell | null
  /** The same for the name of a cell. */
  named: (name: string, isForwarded: boolean) => OtherCell | null
  close: () => void
}

const retryAfterMs = 1_000

/** There is no other cell: everything is answered here. */
export const oneCell = (own: string): Cells => ({
  own,
  ofTenant: () => null,
  named: () => null,
  close: () => {},
})

export function createCells(
  own: string,
  addresses: ReadonlyMap<string, CellAddress>,
  map: TenantMap,
  { registry }: Metrics,
): Cells {
  const forwarded = new Counter({
    name: 'saga_forwarded_calls_total',
    help: 'Calls, and parts of batches, that were handed to the reporters of another cell.',
    labelNames: ['cell'],
    registers: [registry],
  })
  const others = new Map<string, OtherCell>()
  for (const [name, { http, grpc }] of addresses) {
    if (name !== own) others.set(name, { name, http, grpc: clientOf(grpc) })
  }

  function named(name: string, isForwarded: boolean): OtherCell | null {
    if (name === own) return null
    if (isForwarded) throw unavailable('the cells do not agree about the tenant yet', { retryAfterMs })
    const cell = others.get(name)
    if (!cell) throw unavailable(`the cell ${name} is not known here`, { retryAfterMs })
    forwarded.inc({ cell: name })
    return cell
  }
  return {
    own,
    named,
    ofTenant: (tenant, isForwarded) => named(map.cellOf(tenant), isForwarded),
    close() {
      for (const { grpc } of others.values()) grpc.close()
    },
  }
}

const clientOf = (address: string) =>
  new Client(address, credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
    'grpc.enable_http_proxy': 0,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 2_000,
  })
