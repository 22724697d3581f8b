import { sagaStatuses } from '@switchyard/domain/saga-status'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { getPage, type Query } from '../../api/client'
import type { Saga } from '../../generated/types.gen'

/**
 * Parses `Pending=1, Started=10000+` to `1` and `10000+` by status; empty when the API could not count in
 * time.
 */
const countsOf = (header: string | null): Map<string, string> =>
  new Map(
    (header ?? '').split(', ').flatMap((part) => {
      const [status = '', text] = part.split('=')
      return text === undefined ? [] : [[status, text] as const]
    }),
  )

const refetchMs = 10_000

/**
 * The number of sagas of a filter, from the counts by status; null when counting took too long.
 *
 * @param status unset: every status
 */
export const totalQuery = (filter: Query, status?: Saga['status']) => ({
  queryKey: ['sagas', 'total', filter, status],
  queryFn: async ({ signal }: { signal: AbortSignal }) => totalOf(await readCounts(filter, signal), status),
  refetchInterval: refetchMs,
})

function totalOf(counts: ReadonlyMap<string, string>, status: Saga['status'] | undefined): number | null {
  if (counts.size === 0) return null
  const counted = status === undefined ? [...counts.values()] : [counts.get(status) ?? '0']
  return counted.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)
}

/** Reads the number of sagas of a filter by status. */
export async function readCounts(filter: Query, signal: AbortSignal): Promise<Map<string, string>> {
  const { headers } = await getPage<Saga>('/sagas', { ...filter, per_page: 1, with_counts: true }, signal)
  return countsOf(headers.get('X-Status-Counts'))
}

const figures = new Intl.NumberFormat('en')

/** Formats '10000+' as '10,000+'. */
const shownCount = (text: string) =>
  figures.format(Number.parseInt(text, 10)) + (text.endsWith('+') ? '+' : '')

/** Reads the number of sagas of the filters by status, whatever status is chosen. */
export function useStatusCounts(filter: Query, enabled: boolean) {
  const others = useMemo(() => ({ ...filter, status: undefined }), [filter])
  return useQuery({
    queryKey: ['sagas', 'counts', others],
    enabled,
    queryFn: ({ signal }) => readCounts(others, signal),
    placeholderData: (previous) => previous,
  })
}

/** The statuses with their counts, one of which can be chosen. */
export function StatusChoice({
  value,
  counts,
  onChange,
}: {
  value: string | undefined
  counts: ReadonlyMap<string, string> | undefined
  onChange: (status: string | undefined) => void
}) {
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">Status</legend>
      {[undefined, ...sagaStatuses].map((status) => {
        const count = status && counts?.get(status)
        return (
          <button
            key={status ?? ''}
            type="button"
            aria-pressed={status === value}
            onClick={() => onChange(status)}
            className="inline-flex min-h-8 items-center gap-1.5 rounded-full border bg-panel px-3 text-sm hover:bg-raised aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
          >
            {status ?? 'All'}
            {count !== undefined && <span className="tabular-nums opacity-80">{shownCount(count)}</span>}
          </button>
        )
      })}
    </fieldset>
  )
}
