import { queryOptions, useQuery } from '@tanstack/react-query'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { Badge } from '../../../components/badge'
import { Button } from '../../../components/button'
import { Problem } from '../../../components/states'
import type { FileChange } from '../project-data'
import { DiffBody } from './diff-body'
import type { DiffView } from './diff-rows'
import { countLines, type Hunk, parseDiff } from './parse-diff'

/** Loads the text of a file, when the list of files has no texts. */
export interface FileSource {
  key: readonly unknown[]
  load: (path: string, signal: AbortSignal) => Promise<FileChange[]>
}

const rowHeight = 24

/**
 * The change of a commit in one file. A text that is not in the list is loaded when the reader scrolls near
 * it.
 *
 * @param source unset: texts cannot be loaded, or not yet
 */
export function FileDiff({
  change,
  view,
  source,
  actions,
}: {
  change: FileChange
  view: DiffView
  source?: FileSource | undefined
  actions?: ReactNode
}) {
  const ref = useRef<HTMLElement>(null)
  const isNear = useNear(ref)
  const path = change.new_path
  const isLeftOut = change.collapsed || change.too_large
  const text = useQuery(
    queryOptions({
      queryKey: [...(source?.key ?? []), 'file', path],
      queryFn: async ({ signal }) =>
        (await source?.load(path, signal))?.find((entry) => entry.new_path === path) ?? null,
      enabled: isLeftOut && isNear && source !== undefined,
      staleTime: Number.POSITIVE_INFINITY,
    }),
  )
  const full = text.data ?? change
  const hunks = useMemo(() => parseDiff(full.diff), [full.diff])
  const counts = countsOf(change, hunks)
  const isToCome = change.collapsed || (change.too_large && source !== undefined)
  const isWaiting = isToCome && !text.isSuccess && !text.isError
  return (
    <section
      ref={ref}
      aria-label={path}
      aria-busy={isWaiting || undefined}
      tabIndex={-1}
      data-row=""
      className="mb-4 scroll-mt-16 rounded-lg border bg-panel outline-hidden"
    >
      <header className="sticky top-13 z-10 flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 rounded-t-lg border-b bg-panel px-3 py-1.5">
        <h3 className="min-w-0 font-mono text-sm font-medium break-all">{path}</h3>
        <Marks change={change} />
        <Counts counts={counts} />
        <span className="flex-1" />
        {actions}
      </header>
      {text.isError && (
        <div className="p-3">
          <Problem error={text.error} retry={text.refetch} />
        </div>
      )}
      {isWaiting && (
        <div
          className="p-3 text-quiet"
          style={{
            minHeight: Math.min(
              ((counts?.additions ?? 0) + (counts?.deletions ?? 0) + 8) * rowHeight,
              20_000,
            ),
          }}
        >
          Loading…
        </div>
      )}
      {!isWaiting && !text.isError && <Lines change={full} hunks={hunks} view={view} path={path} />}
    </section>
  )
}

function Lines({
  change,
  hunks,
  view,
  path,
}: {
  change: FileChange
  hunks: ReturnType<typeof parseDiff>
  view: DiffView
  path: string
}) {
  if (change.too_large)
    return (
      <Remark>The diff of this file is too long to be shown. Fetch the commit with git to see it.</Remark>
    )
  if (hunks.length > 0) return <DiffBody path={path} hunks={hunks} view={view} />
  if (isBinary(change)) return <Remark>This file is binary.</Remark>
  return <Remark>{wordlessChange(change)}</Remark>
}

function wordlessChange({ renamed_file, new_file, deleted_file, a_mode, b_mode }: FileChange): string {
  if (renamed_file) return 'The file was renamed, and its content is the same.'
  if (new_file) return 'The new file is empty.'
  if (deleted_file) return 'The deleted file was empty.'
  return a_mode === b_mode ? 'No lines to show.' : 'Only the mode of the file changed.'
}

const Remark = ({ children }: { children: ReactNode }) => <p className="p-3 text-sm text-quiet">{children}</p>

function Marks({ change }: { change: FileChange }) {
  const { new_file, deleted_file, renamed_file, generated_file, old_path, a_mode, b_mode } = change
  const isModeChanged = a_mode !== b_mode && !new_file && !deleted_file
  return (
    <>
      {new_file && <Badge tone="good">added</Badge>}
      {deleted_file && <Badge tone="bad">deleted</Badge>}
      {renamed_file && <span className="font-mono text-sm break-all text-quiet">from {old_path}</span>}
      {isModeChanged && (
        <Badge>
          mode {a_mode} → {b_mode}
        </Badge>
      )}
      {generated_file && <Badge>generated</Badge>}
    </>
  )
}

/** Returns whether a diff without lines is binary: it has no text, or git's remark about a binary file. */
const isBinary = ({ diff }: FileChange) => diff !== '' && !diff.startsWith('@@')

interface LineCounts {
  additions: number
  deletions: number
}

/** Returns undefined for a binary file, and for a missing text. */
export function countsOf(change: FileChange, hunks?: Hunk[]): LineCounts | undefined {
  if (typeof change.additions === 'number' && typeof change.deletions === 'number')
    return { additions: change.additions, deletions: change.deletions }
  return change.collapsed || change.too_large || isBinary(change)
    ? undefined
    : countLines(hunks ?? parseDiff(change.diff))
}

export const Counts = ({ counts }: { counts: LineCounts | undefined }) =>
  counts && (
    <span className="flex gap-2 text-sm whitespace-nowrap tabular-nums">
      <span className="text-good">
        +{counts.additions}
        <span className="sr-only"> lines added</span>
      </span>
      <span className="text-bad">
        −{counts.deletions}
        <span className="sr-only"> lines removed</span>
      </span>
    </span>
  )

export const ShowMore = ({ onClick, busy }: { onClick: () => unknown; busy: boolean }) => (
  <p className="mb-4 text-center">
    <Button disabled={busy} onClick={() => void onClick()}>
      Show more files
    </Button>
  </p>
)

/** Returns whether the element has ever been within one screen height of the visible part of the page. */
function useNear(ref: RefObject<HTMLElement | null>): boolean {
  const [isNear, setIsNear] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (isNear || !element) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsNear(true)
      },
      { rootMargin: '100% 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref, isNear])
  return isNear
}
