import { databaseUrl } from '@switchyard/service-kit/config'
import { z } from 'zod'

export const defaultCell = 'default'

const namePattern = /^[a-z0-9][a-z0-9-]{0,62}$/

export const isCellName = (text: string): boolean => namePattern.test(text)
const cellName = () =>
  z.string().regex(namePattern, 'must be lower-case letters, digits and hyphens, 63 at most')

/** Where the reporters of a cell are. */
export interface CellAddress {
  /** `http://host:port` */
  http: string
  /** `host:port` */
  grpc: string
}

const entryPattern = /^(?<name>[^=]+)=(?<http>https?:\/\/[^\s,/?#@+]+)\+(?<grpc>[^\s,/?#@+]+:\d{1,5})$/

/** `name=http://host:port+host:grpcport`, separated by commas; null when the text is no such list. */
function parseCells(text: string): Map<string, CellAddress> | null {
  const cells = new Map<string, CellAddress>()
  for (const entry of text.split(',')) {
    const { name = '', http = '', grpc = '' } = entryPattern.exec(entry.trim())?.groups ?? {}
    if (!namePattern.test(name)) return null
    cells.set(name, { http, grpc })
  }
  return cells
}

export const cellFields = {
  SAGA_DIRECTORY_DATABASE_URL: databaseUrl()
    .optional()
    .describe(
      'In every [cell of sagas](scaling.md#cells-of-sagas) but `default`: the database of `default`, which has the users, the tokens and the map of tenants. Unset: `DATABASE_URL`',
    ),
  SAGA_CELL: cellName()
    .default(defaultCell)
    .describe(
      'Name of the [cell](scaling.md#cells-of-sagas) whose sagas are in `DATABASE_URL`; it stays the same for ever',
    ),
  SAGA_CELLS: z
    .string()
    .transform((text, context) => {
      const cells = parseCells(text)
      if (cells) return cells
      context.addIssue({
        code: 'custom',
        message:
          'must be cells such as second=http://reporter-second:8080+reporter-second:50051, separated by commas',
      })
      return z.NEVER
    })
    .optional()
    .describe(
      'The reporters of every [cell](scaling.md#cells-of-sagas), HTTP and gRPC: `default=http://reporter:8080+reporter:50051,second=…`. Unset: there is one cell',
    ),
}
