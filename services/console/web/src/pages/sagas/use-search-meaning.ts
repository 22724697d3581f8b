import { useQuery } from '@tanstack/react-query'
import { getPage } from '../../api/client'
import type { Saga } from '../../generated/types.gen'
import { meaningsOf, type SagaSearch, type SearchKind } from './saga-filter'

export interface SearchMeaning {
  /** Unset without a text, and until the meaning is decided. */
  kind: SearchKind | undefined
  isDeciding: boolean
  /** Whether no saga of the tenant has such an id, error or tag. */
  findsNothing: boolean
}

/**
 * Decides the meaning of a text in the search box: the first meaning that finds a saga. All are requested in
 * parallel; a meaning that the API refuses or cannot answer in time finds nothing.
 */
export function useSearchMeaning({ q, tenant }: SagaSearch): SearchMeaning {
  const meanings = q ? meaningsOf(q) : []
  const query = useQuery({
    queryKey: ['sagas', 'meaning', tenant, q],
    enabled: meanings.length > 1,
    staleTime: 30_000,
    async queryFn({ signal }): Promise<SearchKind | null> {
      const found = await Promise.all(
        meanings.map(async (kind) => {
          try {
            const { rows } = await getPage<Saga>('/sagas', { tenant, [kind]: q, per_page: 1 }, signal)
            return rows.length > 0
          } catch (error) {
            if (signal.aborted) throw error
            return false
          }
        }),
      )
      return meanings[found.indexOf(true)] ?? null
    },
  })
  if (meanings.length <= 1) return { kind: meanings[0], isDeciding: false, findsNothing: false }
  const { data, isPending } = query
  return {
    kind: data ?? (isPending ? undefined : meanings[0]),
    isDeciding: isPending,
    findsNothing: data === null,
  }
}
