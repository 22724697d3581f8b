import { queryOptions } from '@tanstack/react-query'
import { getPage } from '../../../api/client'
import type { EnvironmentWithProject } from '../../../generated/types.gen'

const namesMax = 50
/** Shortest text that the API can search for. */
const searchedCharsMin = 3

/** The names of environments that contain a text, for a filter. */
export const environmentNamesQuery = (project: string, text: string) => {
  const search = text.length < searchedCharsMin ? undefined : text
  return queryOptions({
    queryKey: [project, 'environments', 'names', search ?? ''],
    queryFn: async ({ signal }) => {
      const query = { search, per_page: namesMax }
      const { rows } = await getPage<EnvironmentWithProject>(`${project}/environments`, query, signal)
      return rows.map(({ name }) => name)
    },
    staleTime: 10_000,
  })
}
