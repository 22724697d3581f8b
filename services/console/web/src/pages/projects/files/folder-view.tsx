import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { DataTable } from '../../../components/data-table'
import { Panel } from '../../../components/page'
import { Empty, Loading, Shown } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import type { TreeEntry } from '../../../generated/types.gen'
import { useProjectParams, useProjectPath } from '../project-frame'
import { fileQuery, rawAddress, splitPath } from './file-data'

const MarkdownView = lazy(() =>
  import('./markdown-view').then(({ MarkdownView }) => ({ default: MarkdownView })),
)

export function FolderView({
  gitRef,
  path,
  entries,
}: {
  gitRef: string
  path: string
  entries: readonly TreeEntry[]
}) {
  const params = useProjectParams()
  const readme = entries.find(
    ({ name, type }) => type === 'blob' && /^readme(\.(md|markdown|txt))?$/i.test(name),
  )
  const columns = [
    {
      header: 'Name',
      cell: (entry: TreeEntry) => (
        <span className="flex items-center gap-2">
          <Icon type={entry.type} />
          {entry.type === 'commit' ? (
            <span className="font-mono text-[13px] break-all">{entry.name}</span>
          ) : (
            <TextLink
              to="/projects/$namespace/$name/files/$ref/$"
              params={{ ...params, ref: gitRef, _splat: entry.path }}
              className="font-mono text-[13px] break-all"
            >
              {entry.name}
            </TextLink>
          )}
        </span>
      ),
    },
    { header: 'Kind', cell: (entry: TreeEntry) => <span className="text-quiet">{kindOf(entry)}</span> },
  ]
  return (
    <>
      <div className="mb-5 rounded-lg border bg-panel">
        <DataTable
          label="Files"
          columns={columns}
          rows={entries}
          rowKey={({ path }) => path}
          empty={<Empty title="This folder is empty." />}
        />
      </div>
      {readme && <Readme gitRef={gitRef} folder={path} entry={readme} />}
    </>
  )
}

function kindOf({ type, mode }: TreeEntry): string {
  if (type === 'tree') return 'Folder'
  if (type === 'commit') return 'Submodule'
  if (mode === '120000') return 'Link'
  return mode === '100755' ? 'Program' : 'File'
}

const Icon = ({ type }: { type: TreeEntry['type'] }) => (
  <svg viewBox="0 0 16 16" className="size-4 shrink-0 text-quiet" aria-hidden="true" fill="currentColor">
    {type === 'tree' ? (
      <path d="M1.5 3h4.2l1.5 1.7h7.3v8.8h-13z" />
    ) : (
      <path d="M3 1.5h6l4 4v9H3zM9 2.7V6h3.2z" fillRule="evenodd" />
    )}
  </svg>
)

function Readme({ gitRef, folder, entry }: { gitRef: string; folder: string; entry: TreeEntry }) {
  const file = useQuery(fileQuery(useProjectPath(), gitRef, entry.path))
  return (
    <Panel name={entry.name}>
      <Shown query={file}>
        {({ text }) =>
          text === null ? (
            <p className="text-quiet">This file is binary.</p>
          ) : (
            <Rendered gitRef={gitRef} folder={folder} name={entry.name} text={text} />
          )
        }
      </Shown>
    </Panel>
  )
}

/** A text as Markdown, or as plain text unless it has the name of a Markdown file. */
export function Rendered({
  gitRef,
  folder,
  name,
  text,
}: {
  gitRef: string
  folder: string
  name: string
  text: string
}) {
  const project = useProjectPath()
  const params = useProjectParams()
  const router = useRouter()
  if (!isMarkdown(name)) {
    return (
      <pre dir="auto" className="font-mono text-sm whitespace-pre-wrap">
        {text}
      </pre>
    )
  }
  const linkTo = (target: string) =>
    router.history.createHref(
      router.buildLocation({
        to: '/projects/$namespace/$name/files/$ref/$',
        params: { ...params, ref: gitRef, _splat: within(folder, target) },
      }).publicHref,
    )
  return (
    <Suspense fallback={<Loading />}>
      <MarkdownView
        text={text}
        linkTo={linkTo}
        imageAt={(target) => rawAddress(project, gitRef, within(folder, target))}
      />
    </Suspense>
  )
}

export const isMarkdown = (path: string) => /\.(md|markdown)$/i.test(path)

/** Resolves a link in a file of a folder: `../a.md?x#y` in `docs/en` ⇒ `docs/a.md`. */
function within(folder: string, target: string): string {
  const [path = ''] = target.split(/[?#]/)
  const parts = path.startsWith('/') ? [] : folder.split('/').filter(Boolean)
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(decoded(part))
  }
  return parts.join('/')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const folderOf = (path: string) => splitPath(path)[0]
