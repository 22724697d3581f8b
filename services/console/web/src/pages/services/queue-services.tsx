import { queueServices } from '@switchyard/domain/queue-services'
import { useQueries } from '@tanstack/react-query'
import { getPage } from '../../api/client'
import { useMay } from '../../api/session'
import type { Service } from '../../generated/types.gen'
import { ServiceLink } from './service-link'

const namesMax = 100

/** The deployed services of a queue. */
export function QueueServices({ source, queue }: { source: string; queue: string }) {
  const maySee = useMay('projects')
  const names = queueServices({ source, queue })
  // All related names contain the first part, except the name of the source.
  const [first = ''] = queue.split(/[.:/]/)
  const searched = [...new Set([first || queue, source])]
  const found = useQueries({
    queries: searched.map((search) => ({
      queryKey: ['services', 'named', search],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await getPage<Service>('/services', { search, per_page: namesMax }, signal)).rows,
      enabled: maySee,
      staleTime: 60_000,
    })),
    combine: (results) => new Set(results.flatMap(({ data }) => data?.map(({ name }) => name) ?? [])),
  })
  const deployed = names.filter((name) => found.has(name))
  if (deployed.length === 0) return null
  return (
    <ul aria-label="Services" className="mb-4 flex flex-wrap gap-x-3 text-sm">
      {deployed.map((name) => (
        <li key={name}>
          Service <ServiceLink name={name} className="underline" />
        </li>
      ))}
    </ul>
  )
}
