import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getPage, segment, send } from '../../../api/client'
import type { CommitComment } from '../../../generated/types.gen'
import type { Place } from '../code/comments-context'

const perPage = 100
const pagesMax = 20

/** All comments of a commit, and how to add one. */
export function useComments(project: string, sha: string) {
  const client = useQueryClient()
  const address = `${project}/repository/commits/${segment(sha)}/comments`
  const queryKey = [project, 'commit', sha, 'comments']
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const comments: CommitComment[] = []
      for (let page = 1; page <= pagesMax; page += 1) {
        const { rows, nextPage } = await getPage<CommitComment>(address, { page, per_page: perPage }, signal)
        comments.push(...rows)
        if (nextPage === undefined) break
      }
      return comments
    },
  })
  const add = async (note: string, place?: Place) => {
    const made = await send<CommitComment>('POST', address, { note, ...place })
    client.setQueryData<CommitComment[]>(queryKey, (before = []) => [...before, made])
  }
  return { query, add }
}
