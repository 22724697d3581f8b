import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { getPage } from '../../../api/client'
import { Badge } from '../../../components/badge'
import { Page, Panel } from '../../../components/page'
import { Pager } from '../../../components/pager'
import { Empty, Shown } from '../../../components/states'
import { TextLink } from '../../../components/text-link'
import { Time } from '../../../components/time'
import type { Release } from '../../../generated/types.gen'
import { pageOf } from '../../../lib/search-params'
import { MarkdownView } from '../files/markdown-view'
import { CommitLink } from '../pipelines/pipelines-page'
import { useProject, useProjectParams, useProjectPath } from '../project-frame'
import { ReleaseFiles } from './release-files'

const route = getRouteApi('/projects/$namespace/$name/releases')

/** The releases of the project, newest first. */
export function ReleasesPage() {
  const { path_with_namespace } = useProject()
  const project = useProjectPath()
  const page = pageOf(route.useSearch().page)
  const navigate = route.useNavigate()
  const releases = useQuery({
    queryKey: [project, 'releases', page],
    queryFn: ({ signal }) => getPage<Release>(`${project}/releases`, { page }, signal),
    placeholderData: keepPreviousData,
  })
  return (
    <Page title={`Releases of ${path_with_namespace}`} heading="Releases">
      <Shown query={releases}>
        {({ rows, total, nextPage }) => (
          <>
            {rows.length === 0 && (
              <Empty title="Nothing has been released yet.">
                A release is a tag with notes and links: <code>POST /projects/:id/releases</code> makes one.
              </Empty>
            )}
            {rows.map((release) => (
              <ReleaseView key={release.tag_name} release={release} />
            ))}
            <Pager
              page={page}
              nextPage={nextPage}
              total={total}
              onMove={(to) => void navigate({ search: { page: String(to) } })}
            />
          </>
        )}
      </Shown>
    </Page>
  )
}

function ReleaseView({ release }: { release: Release }) {
  const { tag_name, name, description, released_at, upcoming_release, author, commit } = release
  const params = useProjectParams()
  const filesAt = (path: string) =>
    `/console/projects/${[params.namespace, params.name].map(encodeURIComponent).join('/')}/files/${encodeURIComponent(tag_name)}/${path.replace(/^\.?\//, '')}`
  return (
    <Panel name={name} actions={upcoming_release && <Badge tone="warn">upcoming</Badge>}>
      <p className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-quiet">
        {commit ? (
          <TextLink
            to="/projects/$namespace/$name/files/$ref/$"
            params={{ ...params, ref: tag_name, _splat: '' }}
            className="font-mono"
            dir="auto"
          >
            {tag_name}
          </TextLink>
        ) : (
          <span dir="auto" className="font-mono">
            {tag_name}
          </span>
        )}
        {commit && <CommitLink sha={commit.id} />}
        <span>
          <Time at={released_at} />
          {author && (
            <>
              {' '}
              by <bdi>{author.name}</bdi>
            </>
          )}
        </span>
      </p>
      {description && <MarkdownView text={description} linkTo={filesAt} imageAt={filesAt} />}
      <ReleaseFiles release={release} />
    </Panel>
  )
}
