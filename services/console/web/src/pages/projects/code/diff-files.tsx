import { type ReactNode, useEffect } from 'react'
import { countOf } from '../../../lib/format'
import type { FileChange } from '../project-data'
import { type DiffView, diffViews } from './diff-rows'
import { Counts, countsOf, FileDiff, type FileSource } from './file-diff'

const viewNames: Record<DiffView, string> = { unified: 'Unified', split: 'Split' }

/**
 * The files of a diff: first their list, then each with its lines.
 *
 * @param path the file in the address, to which the page scrolls
 * @param total the number of files when there are more than the given ones
 * @param more content at the end, to load more files
 */
export function DiffFiles({
  changes,
  total,
  view,
  onView,
  path,
  onPath,
  source,
  fileActions,
  more,
}: {
  changes: readonly FileChange[]
  total?: number | undefined
  view: DiffView
  onView: (view: DiffView) => void
  path?: string | undefined
  onPath?: (path: string) => void
  source?: FileSource | undefined
  fileActions?: (change: FileChange) => ReactNode
  more?: ReactNode
}) {
  const chosen = changes.find((change) => change.new_path === path)?.new_path
  useEffect(() => {
    if (chosen !== undefined) document.getElementById(elementId(chosen))?.scrollIntoView()
  }, [chosen])
  return (
    <section aria-label="Files">
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <h2 className="flex-1 text-lg font-semibold">{countOf(total ?? changes.length, 'changed file')}</h2>
        <ViewRadios view={view} onView={onView} />
      </div>
      {changes.length === 0 && <p className="text-quiet">No file is changed.</p>}
      {changes.length > 1 && <FileList changes={changes} onPath={onPath} />}
      {changes.map((change) => (
        <div
          key={`${change.old_path}\n${change.new_path}`}
          id={elementId(change.new_path)}
          className="scroll-mt-16"
        >
          <FileDiff change={change} view={view} source={source} actions={fileActions?.(change)} />
        </div>
      ))}
      {more}
    </section>
  )
}

const elementId = (path: string) => `file-${encodeURIComponent(path)}`

function ViewRadios({ view, onView }: { view: DiffView; onView: (view: DiffView) => void }) {
  return (
    <fieldset className="flex overflow-hidden rounded-md border bg-panel text-sm">
      <legend className="sr-only">View</legend>
      {diffViews.map((value) => (
        <label
          key={value}
          className="flex min-h-8 items-center px-3 has-checked:bg-accent-soft has-checked:font-semibold has-checked:text-accent has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="diff-view"
            value={value}
            checked={view === value}
            onChange={() => onView(value)}
            className="mr-1.5 accent-accent"
          />
          {viewNames[value]}
        </label>
      ))}
    </fieldset>
  )
}

function FileList({
  changes,
  onPath,
}: {
  changes: readonly FileChange[]
  onPath: ((path: string) => void) | undefined
}) {
  const show = (path: string) => {
    onPath?.(path)
    document.getElementById(elementId(path))?.scrollIntoView()
    document.getElementById(elementId(path))?.querySelector<HTMLElement>('section')?.focus()
  }
  return (
    <ul data-list="" className="mb-4 max-h-80 overflow-y-auto rounded-lg border bg-panel py-1 text-sm">
      {changes.map((change) => (
        <li
          key={`${change.old_path}\n${change.new_path}`}
          data-row=""
          className="flex items-center gap-3 px-3 py-0.5 hover:bg-raised"
        >
          <ChangeLetter change={change} />
          <button
            type="button"
            onClick={() => show(change.new_path)}
            className="min-h-[24px] min-w-0 flex-1 text-left font-mono break-all text-accent hover:underline"
          >
            {change.new_path}
          </button>
          <Counts counts={countsOf(change)} />
        </li>
      ))}
    </ul>
  )
}

function ChangeLetter({ change }: { change: FileChange }) {
  const [letter, name, tone] = letterOf(change)
  return (
    <abbr title={name} className={`w-4 font-mono font-semibold no-underline ${tone}`}>
      {letter}
    </abbr>
  )
}

function letterOf({ new_file, deleted_file, renamed_file }: FileChange) {
  if (new_file) return ['A', 'added', 'text-good'] as const
  if (deleted_file) return ['D', 'deleted', 'text-bad'] as const
  return renamed_file ? (['R', 'renamed', 'text-warn'] as const) : (['M', 'modified', 'text-quiet'] as const)
}
