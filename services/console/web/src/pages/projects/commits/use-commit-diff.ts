import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getPage, segment } from '../../../api/client'
import type { FileSource } from '../code/file-diff'
import type { FileChange } from '../project-data'

const filesAtOnce = 100
/**
 * Number of files whose texts come with the page; the others are loaded when the reader scrolls near them.
 */
const textsAtOnce = 10

/**
 * Reads the files of a commit. The list and the texts of the first files are requested in parallel; the list
 * has the line counts of each file, so the page is usable before the texts arrive.
 */
export function useCommitDiff(project: string, sha: string) {
  const address = `${project}/repository/commits/${segment(sha)}/diff`
  const list = useInfiniteQuery({
    queryKey: [project, 'commit', sha, 'files'],
    queryFn: ({ pageParam, signal }) =>
      getPage<FileChange>(address, { stat: true, per_page: filesAtOnce, page: pageParam }, signal),
    initialPageParam: 1,
    getNextPageParam: (page, pages) =>
      pages.length * filesAtOnce < (page.total ?? 0) ? pages.length + 1 : undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const first = useQuery({
    queryKey: [project, 'commit', sha, 'texts'],
    queryFn: ({ signal }) => getPage<FileChange>(address, { per_page: textsAtOnce, page: 1 }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const texts = new Map(first.data?.rows.map((change) => [change.new_path, change]))
  const listed = list.data?.pages.flatMap(({ rows }) => rows)
  // Until the list arrives, the page shows the files with texts.
  const changes = listed?.map((change) => withText(change, texts.get(change.new_path))) ?? first.data?.rows
  const source: FileSource | undefined = first.isPending
    ? undefined
    : {
        key: [project, 'commit', sha],
        load: async (path, signal) => (await getPage<FileChange>(address, { path }, signal)).rows,
      }
  return { list, changes, total: list.data?.pages[0]?.total, source }
}

const withText = (change: FileChange, text: FileChange | undefined): FileChange =>
  text && !text.too_large ? { ...change, ...text } : change
