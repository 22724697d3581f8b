import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Fragment } from 'react'
import { buttonClass } from '../../../components/button'
import { Page } from '../../../components/page'
import { isMissing, NotFound, Shown } from '../../../components/states'
import { ButtonLink, TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import { oneOf } from '../../../lib/search-params'
import { useMayChange } from '../project-data'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'
import { BranchBox } from '../ref-field'
import { lastCommitQuery, rawAddress, splitPath, treeQuery } from './file-data'
import { FileView, type FileViewName } from './file-view'
import { FolderView, isMarkdown } from './folder-view'

const route = getRouteApi('/projects/$namespace/$name/files/$ref/$')
const views = ['source', 'rendered', 'blame'] as const

export function FilesPage() {
  const { ref, _splat = '' } = route.useParams()
  const path = _splat.replace(/^\/+|\/+$/g, '')
  const project = useProjectPath()
  const { path_with_namespace } = useProject()
  const [folder, name] = splitPath(path)
  // The folder of an entry shows whether the entry is a file.
  const around = useQuery(treeQuery(project, ref, folder))
  const entry = around.data?.find((entry) => entry.name === name)
  const isFolder = path === '' || entry?.type === 'tree'
  const inside = useQuery({ ...treeQuery(project, ref, path), enabled: isFolder })
  if (isMissing(around.error) || (around.data && path !== '' && !entry)) return <NotFound />
  const title = path === '' ? `Files of ${path_with_namespace}` : path
  return (
    <Page
      title={title}
      heading={path === '' ? 'Files' : <span className="font-mono text-lg">{name}</span>}
      actions={around.data && <Actions gitRef={ref} path={path} isFolder={isFolder} />}
    >
      <div className="mb-3 flex flex-wrap items-center gap-3">
        <RefBox gitRef={ref} path={path} />
        <Crumbs gitRef={ref} path={path} />
      </div>
      <LastCommit gitRef={ref} path={path} />
      {isFolder ? (
        <Shown query={inside}>{(entries) => <FolderView gitRef={ref} path={path} entries={entries} />}</Shown>
      ) : (
        <Shown query={around}>{() => <CurrentFile gitRef={ref} path={path} />}</Shown>
      )}
    </Page>
  )
}

function CurrentFile({ gitRef, path }: { gitRef: string; path: string }) {
  const view: FileViewName = oneOf(views, route.useSearch().view) ?? 'source'
  return <FileView gitRef={gitRef} path={path} view={view} />
}

function RefBox({ gitRef, path }: { gitRef: string; path: string }) {
  const navigate = route.useNavigate()
  return (
    <BranchBox
      value={gitRef}
      onChange={(ref) => void navigate({ params: (before) => ({ ...before, ref, _splat: path }) })}
    />
  )
}

function Crumbs({ gitRef, path }: { gitRef: string; path: string }) {
  const params = useProjectParams()
  const parts = path.split('/').filter(Boolean)
  return (
    <nav aria-label="Path" className="flex min-w-0 flex-wrap items-center gap-1 font-mono text-sm">
      <TextLink
        to="/projects/$namespace/$name/files/$ref/$"
        params={{ ...params, ref: gitRef, _splat: '' }}
        activeOptions={{ exact: true }}
      >
        {params.name}
      </TextLink>
      {parts.map((part, index) => (
        <Fragment key={parts.slice(0, index + 1).join('/')}>
          <span aria-hidden="true">/</span>
          <TextLink
            to="/projects/$namespace/$name/files/$ref/$"
            params={{ ...params, ref: gitRef, _splat: parts.slice(0, index + 1).join('/') }}
            activeOptions={{ exact: true }}
            className="break-all"
          >
            {part}
          </TextLink>
        </Fragment>
      ))}
    </nav>
  )
}

function LastCommit({ gitRef, path }: { gitRef: string; path: string }) {
  const params = useProjectParams()
  const { data } = useQuery(lastCommitQuery(useProjectPath(), gitRef, path))
  if (!data) return null
  return (
    <p className="mb-3 flex flex-wrap items-baseline gap-x-3 rounded-lg border bg-panel px-4 py-2 text-sm">
      <span dir="auto" className="font-medium">
        {data.author_name}
      </span>
      <TextLink
        to="/projects/$namespace/$name/commits/$sha"
        params={{ ...params, sha: data.id }}
        dir="auto"
        className="min-w-0 flex-1 truncate"
      >
        {data.title || 'No message'}
      </TextLink>
      <Time at={data.committed_date} />
    </p>
  )
}

function Actions({ gitRef, path, isFolder }: { gitRef: string; path: string; isFolder: boolean }) {
  const params = useProjectParams()
  const project = useProjectPath()
  const mayWrite = useMayChange('developer')
  const { view = 'source' } = route.useSearch()
  const inView = (value: FileViewName | undefined) => ({
    from: '/projects/$namespace/$name/files/$ref/$' as const,
    to: '.' as const,
    search: { view: value },
  })
  return (
    <>
      {!isFolder && (
        <>
          {view !== 'source' && <ButtonLink {...inView(undefined)}>Source</ButtonLink>}
          {isMarkdown(path) && view !== 'rendered' && (
            <ButtonLink {...inView('rendered')}>Rendered</ButtonLink>
          )}
          {view !== 'blame' && <ButtonLink {...inView('blame')}>Blame</ButtonLink>}
          <a href={rawAddress(project, gitRef, path)} className={buttonClass()}>
            Raw
          </a>
        </>
      )}
      <ButtonLink
        to="/projects/$namespace/$name"
        params={params}
        search={{ ref: gitRef, path: path || undefined }}
      >
        History
      </ButtonLink>
      {mayWrite && (
        <ButtonLink
          to="/projects/$namespace/$name/new-commit"
          params={params}
          search={{ ref: gitRef, path: isFolder ? (path ? `${path}/` : undefined) : path }}
          look="primary"
        >
          {isFolder ? 'New file' : 'Edit'}
        </ButtonLink>
      )}
    </>
  )
}
