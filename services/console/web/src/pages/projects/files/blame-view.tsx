import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Shown } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { Blame } from '../../../generated/types.gen'
import { CodeText } from '../code/code-text'
import { LineNumber } from '../code/diff-line'
import { RowList } from '../code/row-list'
import { useHighlight } from '../code/use-highlight'
import { useProjectParams, useProjectPath } from '../project-frame'
import { blameQuery } from './file-data'

/** Each line of a file with the commit that last changed it. */
export function BlameView({ gitRef, path }: { gitRef: string; path: string }) {
  const blame = useQuery(blameQuery(useProjectPath(), gitRef, path))
  return <Shown query={blame}>{(parts) => <Lines path={path} parts={parts} />}</Shown>
}

function Lines({ path, parts }: { path: string; parts: Blame[] }) {
  const rows = useMemo(
    () =>
      parts.flatMap(({ commit, lines }) =>
        lines.map((text, index) => ({ text, commit: index === 0 ? commit : null })),
      ),
    [parts],
  )
  const texts = useMemo(() => [rows.map(({ text }) => text).join('\n')], [rows])
  const html = useHighlight(path, texts)?.[0]
  if (rows.length === 0) return <p className="p-4 text-quiet">A binary file has no lines.</p>
  return (
    <div className="font-mono text-[13px]">
      <RowList
        count={rows.length}
        row={(index) => {
          const { text = '', commit = null } = rows[index] ?? {}
          return (
            <div key={index} className={`flex min-h-[24px] ${commit && index > 0 ? 'border-t' : ''}`}>
              <div className="w-32 shrink-0 border-r px-2 py-[2px] font-sans leading-[20px] sm:w-80">
                {commit && <Origin commit={commit} />}
              </div>
              <LineNumber number={index + 1} />
              <code className="min-w-0 flex-1 py-[2px] pr-3 leading-[20px] whitespace-pre-wrap">
                <CodeText text={text} html={html?.[index]} />
              </code>
            </div>
          )
        }}
      />
    </div>
  )
}

function Origin({ commit }: { commit: Blame['commit'] }) {
  const params = useProjectParams()
  const title = commit.message.split('\n', 1)[0] ?? ''
  return (
    <span className="flex gap-2 text-quiet">
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...params, sha: commit.id }}
        dir="auto"
        title={`${title}, by ${commit.author_name}`}
        className="min-w-0 flex-1 truncate"
      >
        {title}
      </TextLink>
      <span className="hidden sm:inline">
        <Time at={commit.authored_date} />
      </span>
    </span>
  )
}
