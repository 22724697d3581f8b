import { memo, type ReactNode } from 'react'
import { CodeText } from './code-text'
import type { DiffRow, DiffView } from './diff-rows'
import type { DiffLine } from './parse-diff'

type LineHtml = (line: DiffLine) => string | undefined

interface RowProps {
  row: DiffRow
  view: DiffView
  htmlOf: LineHtml
  /** Unset when comments cannot be added. */
  onComment: ((lineType: 'new' | 'old', line: number) => void) | undefined
  /** Comments on the lines of the row; false: none. */
  below: ReactNode
}

const backgrounds = { added: 'bg-good-soft', removed: 'bg-bad-soft', context: '' }
const signs = { added: '+', removed: '-', context: ' ' }

export const DiffLineRow = memo(function DiffLineRow({ row, view, htmlOf, onComment, below }: RowProps) {
  if (row.header !== undefined) return <HunkHeader text={row.header} />
  const { old, new: fresh } = row
  return (
    <>
      <div className={`group ${view === 'split' ? 'grid grid-cols-2' : ''}`}>
        {view === 'split' ? (
          <>
            <Side
              line={old}
              numbers={[old?.oldLine]}
              htmlOf={htmlOf}
              onComment={old?.kind === 'removed' ? onComment : undefined}
            />
            <Side
              line={fresh}
              numbers={[fresh?.newLine]}
              htmlOf={htmlOf}
              onComment={onComment}
              className="border-l"
            />
          </>
        ) : (
          <Side
            line={fresh ?? old}
            numbers={[old?.oldLine, fresh?.newLine]}
            htmlOf={htmlOf}
            onComment={onComment}
          />
        )}
      </div>
      {below}
    </>
  )
})

const HunkHeader = ({ text }: { text: string }) => (
  <div className="min-h-[24px] border-y bg-raised px-3 py-[2px] break-all whitespace-pre-wrap text-quiet first:border-t-0">
    {text}
  </div>
)

function Side({
  line,
  numbers,
  htmlOf,
  onComment,
  className = '',
}: Pick<RowProps, 'htmlOf' | 'onComment'> & {
  line: DiffLine | undefined
  numbers: (number | undefined)[]
  className?: string
}) {
  if (!line) return <div className={`min-h-[24px] bg-raised ${className}`} />
  return (
    <div className={`flex min-h-[24px] ${backgrounds[line.kind]} ${className}`}>
      {numbers.map((number, index) => (
        <LineNumber key={index} number={number} />
      ))}
      {onComment ? (
        <CommentButton line={line} onComment={onComment} />
      ) : (
        <span className="w-[24px] shrink-0" />
      )}
      <span className="w-4 shrink-0 select-none" aria-hidden={line.kind === 'context'}>
        {signs[line.kind]}
      </span>
      <code className="min-w-0 flex-1 py-[2px] pr-3 leading-[20px] whitespace-pre-wrap">
        <CodeText text={line.text} html={htmlOf(line)} />
        {line.isWithoutBreak && <span className="text-quiet select-none"> (no line break at the end)</span>}
      </code>
    </div>
  )
}

export const LineNumber = ({ number }: { number: number | undefined }) => (
  <span className="w-11 shrink-0 py-[2px] pr-2 text-right leading-[20px] text-quiet tabular-nums select-none">
    {number}
  </span>
)

function CommentButton({
  line,
  onComment,
}: {
  line: DiffLine
  onComment: NonNullable<RowProps['onComment']>
}) {
  const isOld = line.kind === 'removed'
  const number = (isOld ? line.oldLine : line.newLine) ?? 0
  const name = isOld ? `Comment on old line ${number}` : `Comment on line ${number}`
  return (
    <button
      type="button"
      aria-label={name}
      title={name}
      onClick={() => onComment(isOld ? 'old' : 'new', number)}
      className="size-[24px] shrink-0 rounded bg-accent text-center leading-[20px] font-bold text-on-accent opacity-0 group-hover:opacity-100 focus-visible:opacity-100 pointer-coarse:bg-transparent pointer-coarse:text-accent pointer-coarse:opacity-100"
    >
      +
    </button>
  )
}
