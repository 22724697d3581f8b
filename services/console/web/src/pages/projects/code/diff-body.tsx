import { Fragment, type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { CommentForm } from './comment-form'
import { Thread } from './comment-parts'
import { type CommentThread, positionKey, useCommentTools } from './comments-context'
import { DiffLineRow } from './diff-line'
import { type DiffRow, type DiffView, rowsOf } from './diff-rows'
import { LineFindings } from './finding-parts'
import { useFindingsOf } from './findings-context'
import type { DiffLine, Hunk } from './parse-diff'
import { RowList } from './row-list'
import { useHighlight } from './use-highlight'

/** The lines of one file's diff, with the comments on them. */
export function DiffBody({ path, hunks, view }: { path: string; hunks: Hunk[]; view: DiffView }) {
  const rows = useMemo(() => rowsOf(hunks, view), [hunks, view])
  const htmlOf = useLineHtml(path, hunks)
  const { threads, add } = useCommentTools()
  const { byPosition, elsewhere } = useMemo(() => placed(threads, path, rows), [threads, path, rows])
  const findings = useFindingsOf(path)
  // The position with the open form. Unfinished texts are kept here, because rows far from the visible part
  // are not in the document.
  const [open, setOpen] = useState<string>()
  const drafts = useRef(new Map<string, string>())
  const openForm = useCallback((type: 'new' | 'old', line: number) => setOpen(positionKey(type, line)), [])
  const form = (key: string) =>
    open === key &&
    add && (
      <CommentForm
        label="Comment"
        draft={drafts.current.get(key) ?? ''}
        onDraft={(note) => drafts.current.set(key, note)}
        add={(note) => add(note, positionOf(path, key))}
        onCancel={() => setOpen((current) => (current === key ? undefined : current))}
      />
    )
  return (
    <div className="font-mono text-[13px]">
      <RowList
        count={rows.length}
        row={(index) => {
          const row = rows[index] ?? {}
          // Most rows have nothing below them and are not rendered again during scrolling.
          const keys = keysOf(row).filter((key) => byPosition.has(key) || findings.has(key) || open === key)
          return (
            <DiffLineRow
              key={index}
              row={row}
              view={view}
              htmlOf={htmlOf}
              onComment={add && openForm}
              below={
                keys.length > 0 &&
                keys.map((key) => (
                  <Fragment key={key}>
                    {findings.has(key) && <LineFindings findings={findings.get(key) ?? []} />}
                    <LineComments threads={byPosition.get(key) ?? []}>{form(key)}</LineComments>
                  </Fragment>
                ))
              }
            />
          )
        }}
      />
      {elsewhere.length > 0 && (
        <div className="flex flex-col gap-2 border-t bg-raised p-3">
          {elsewhere.map((thread) => (
            <Thread
              key={thread.id}
              thread={thread}
              about={`on ${thread.line_type === 'old' ? 'old ' : ''}line ${thread.line}`}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/**
 * Returns the comments on the lines of a file: those on visible lines by position, and those on lines that
 * the diff does not show.
 */
function placed(threads: readonly CommentThread[], path: string, rows: readonly DiffRow[]) {
  const byPosition = new Map<string, CommentThread[]>()
  const own = threads.filter((thread) => thread.path === path && thread.line !== null)
  if (own.length === 0) return { byPosition, elsewhere: own }
  const shown = new Set(rows.flatMap(keysOf))
  const keyOf = ({ line_type, line }: CommentThread) => positionKey(line_type, line)
  for (const thread of own) byPosition.set(keyOf(thread), [...(byPosition.get(keyOf(thread)) ?? []), thread])
  return { byPosition, elsewhere: own.filter((thread) => !shown.has(keyOf(thread))) }
}

/** Returns the positions of a row: an unchanged line has an old and a new number. */
function keysOf(row: DiffRow): string[] {
  if (row.header !== undefined) return []
  return [
    ...(row.old ? [positionKey('old', row.old.oldLine ?? null)] : []),
    ...(row.new ? [positionKey('new', row.new.newLine ?? null)] : []),
  ]
}

function positionOf(path: string, key: string) {
  const [type, line] = key.split(' ')
  return { path, line: Number(line), line_type: type === 'old' ? ('old' as const) : ('new' as const) }
}

function LineComments({ threads, children }: { threads: CommentThread[]; children: ReactNode }) {
  if (threads.length === 0 && !children) return null
  return (
    <div className="border-y bg-raised p-3">
      <div className="flex max-w-3xl flex-col gap-2">
        {threads.map((thread) => (
          <Thread key={thread.id} thread={thread} />
        ))}
        {children}
      </div>
    </div>
  )
}

/** Highlights each part of the file in its old and its new version. */
function useLineHtml(path: string, hunks: Hunk[]) {
  const sides = useMemo(
    () => hunks.flatMap(({ lines }) => [sideOf(lines, 'removed'), sideOf(lines, 'added')]),
    [hunks],
  )
  const texts = useMemo(() => sides.map((side) => side.map(({ text }) => text).join('\n')), [sides])
  const html = useHighlight(path, texts)
  const byLine = useMemo(() => {
    const found = new Map<DiffLine, string | undefined>()
    if (html)
      for (const [at, side] of sides.entries())
        for (const [row, line] of side.entries()) found.set(line, html[at]?.[row])
    return found
  }, [sides, html])
  return useCallback((line: DiffLine) => byLine.get(line), [byLine])
}

const sideOf = (lines: DiffLine[], kind: 'added' | 'removed') =>
  lines.filter((line) => line.kind === 'context' || line.kind === kind)
