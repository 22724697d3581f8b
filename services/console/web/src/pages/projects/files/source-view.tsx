import { useRouterState } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { splitLines } from '../../../lib/format'
import { CodeText } from '../code/code-text'
import { RowList } from '../code/row-list'
import { useHighlight } from '../code/use-highlight'

/** A text with line numbers. `#L12` in the address marks a line and scrolls to it. */
export function SourceView({ path, text }: { path: string; text: string }) {
  const lines = useMemo(() => splitLines(text), [text])
  const texts = useMemo(() => [text], [text])
  const html = useHighlight(path, texts)?.[0]
  const hash = useRouterState({ select: (state) => state.location.hash })
  const marked = Number(/^L(\d+)$/.exec(hash)?.[1] ?? 0)
  useEffect(() => {
    document.getElementById(`L${marked}`)?.scrollIntoView({ block: 'center' })
  }, [marked])
  return (
    <div className="py-1 font-mono text-[13px]">
      <RowList
        count={lines.length}
        target={marked - 1}
        row={(index) => (
          <div
            key={index}
            id={`L${index + 1}`}
            className={`flex min-h-[24px] ${marked === index + 1 ? 'bg-warn-soft' : ''}`}
          >
            <LineLink number={index + 1} />
            <code className="min-w-0 flex-1 py-[2px] pr-3 leading-[20px] whitespace-pre-wrap">
              <CodeText text={lines[index] ?? ''} html={html?.[index]} />
            </code>
          </div>
        )}
      />
    </div>
  )
}

const LineLink = ({ number }: { number: number }) => (
  <a
    href={`#L${number}`}
    aria-label={`Line ${number}`}
    className="w-14 shrink-0 py-[2px] pr-4 text-right leading-[20px] text-quiet tabular-nums select-none hover:text-accent"
  >
    {number}
  </a>
)
