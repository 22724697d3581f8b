import { type ReactNode, useMemo, useRef, useState } from 'react'
import type { CommitComment } from '../../../generated/types.gen'
import { Comment, CommentForm } from './comment-parts'
import { placeKey, useCommentTools } from './comments-context'
import { DiffLineRow } from './diff-line'
import { type DiffRow, type DiffView, rowsOf } from './diff-rows'
import type { DiffLine, Hunk } from './parse-diff'
import { RowList } from './row-list'
import { useHighlight } from './use-highlight'

/** The lines of one file's diff, with the comments on them. */
export function DiffBody({ path, hunks, view }: { path: string; hunks: Hunk[]; view: DiffView }) {
  const rows = useMemo(() => rowsOf(hunks, view), [hunks, view])
  const htmlOf = useLineHtml(path, hunks)
  const { comments, add } = useCommentTools()
  const own = comments.filter((comment) => comment.path === path && comment.line !== null)
  // The place with the open form. Texts that were begun are kept here, as rows far from the visible part are not in the document.
  const [open, setOpen] = useState<string>()
  const drafts = useRef(new Map<string, string>())
  const shown = new Set(rows.flatMap(keysOf))
  const elsewhere = own.filter(({ line_type, line }) => !shown.has(placeKey(line_type, line)))
  return (
    <div className="font-mono text-[13px]">
      <RowList
        count={rows.length}
        row={(index) => {
          const row = rows[index] ?? {}
          return (
            <DiffLineRow
              key={index}
              row={row}
              view={view}
              htmlOf={htmlOf}
              onComment={add && ((type, line) => setOpen(placeKey(type, line)))}
            >
              {keysOf(row).map((key) => (
                <LineComments
                  key={key}
                  comments={own.filter(({ line_type, line }) => placeKey(line_type, line) === key)}
                >
                  {open === key && add && (
                    <CommentForm
                      label="Comment"
                      draft={drafts.current.get(key) ?? ''}
                      onDraft={(note) => drafts.current.set(key, note)}
                      add={(note) => add(note, placeOf(path, key))}
                      onCancel={() => setOpen((current) => (current === key ? undefined : current))}
                    />
                  )}
                </LineComments>
              ))}
            </DiffLineRow>
          )
        }}
      />
      {elsewhere.length > 0 && (
        <div className="flex flex-col gap-2 border-t bg-raised p-3">
          {elsewhere.map((comment) => (
            <Comment
              key={comment.id}
              comment={comment}
              about={`on ${comment.line_type === 'old' ? 'old ' : ''}line ${comment.line}`}
            />
          ))}
        </div>
      )}
    </div>
  )
}

/** The places of a row: an unchanged line can be named by its old and by its new number. */
function keysOf(row: DiffRow): string[] {
  if (row.header !== undefined) return []
  return [
    ...(row.old ? [placeKey('old', row.old.oldLine ?? null)] : []),
    ...(row.new ? [placeKey('new', row.new.newLine ?? null)] : []),
  ]
}

function placeOf(path: string, key: string) {
  const [type, line] = key.split(' ')
  return { path, line: Number(line), line_type: type === 'old' ? ('old' as const) : ('new' as const) }
}

function LineComments({ comments, children }: { comments: CommitComment[]; children: ReactNode }) {
  if (comments.length === 0 && !children) return null
  return (
    <div className="border-y bg-raised p-3">
      <div className="flex max-w-3xl flex-col gap-2">
        {comments.map((comment) => (
          <Comment key={comment.id} comment={comment} />
        ))}
        {children}
      </div>
    </div>
  )
}

/** Each part of the file is highlighted as it was and as it is. */
function useLineHtml(path: string, hunks: Hunk[]) {
  const texts = useMemo(
    () => hunks.flatMap(({ lines }) => [textOf(lines, 'added'), textOf(lines, 'removed')]),
    [hunks],
  )
  const html = useHighlight(path, texts)
  const byLine = useMemo(() => {
    const map = new Map<DiffLine, string | undefined>()
    for (const [index, { lines }] of hunks.entries()) {
      for (const line of sideOf(lines, 'removed').map(
        (line, at) => [line, html?.[2 * index + 1]?.[at]] as const,
      ))
        map.set(...line)
      for (const line of sideOf(lines, 'added').map((line, at) => [line, html?.[2 * index]?.[at]] as const))
        map.set(...line)
    }
    return map
  }, [hunks, html])
  return (line: DiffLine) => byLine.get(line)
}

const sideOf = (lines: DiffLine[], kind: 'added' | 'removed') =>
  lines.filter((line) => line.kind === 'context' || line.kind === kind)

const textOf = (lines: DiffLine[], kind: 'added' | 'removed') =>
  sideOf(lines, kind)
    .map(({ text }) => text)
    .join('\n')
