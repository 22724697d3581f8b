import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { get, getPage, segment } from '../../api/client'
import type { SagaDetail, SagaEvent } from '../../generated/types.gen'

/** The saga of a page. Unset tenant: `default`. */
export interface SagaKey {
  sagaId: string
  tenant: string | undefined
}

/** Returns the address of a saga below `/api/v4`. */
export const sagaPath = ({ sagaId }: SagaKey) => `/sagas/${segment(sagaId)}`

export const sagaQueryKey = ({ sagaId, tenant }: SagaKey) => ['saga', tenant ?? '', sagaId]

export const sagaQuery = (key: SagaKey) =>
  queryOptions({
    queryKey: [...sagaQueryKey(key), 'detail'],
    queryFn: ({ signal }) => get<SagaDetail>(sagaPath(key), { tenant: key.tenant }, signal),
  })

const eventsOfPage = 100

/** The log in order. */
export const sagaEventsQuery = (key: SagaKey) =>
  infiniteQueryOptions({
    queryKey: [...sagaQueryKey(key), 'events'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      getPage<SagaEvent>(
        `${sagaPath(key)}/events`,
        { tenant: key.tenant, per_page: eventsOfPage, after: pageParam },
        signal,
      ),
    getNextPageParam: (page) => page.nextCursor,
    select: ({ pages }) => pages.flatMap(({ rows }) => rows),
  })
