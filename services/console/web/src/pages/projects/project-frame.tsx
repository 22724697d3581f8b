import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet, useRouterState } from '@tanstack/react-router'
import { get, segment } from '../../api/client'
import { useMay, useSession } from '../../api/session'
import { Badge } from '../../components/badge'
import { isMissing, Loading, NotAllowed, NotFound, Problem } from '../../components/states'
import type { Project } from '../../generated/types.gen'

const route = getRouteApi('/projects/$namespace/$name')

const projectQuery = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ['project', namespace, name],
    queryFn: ({ signal }) => get<Project>(`/projects/${segment(`${namespace}/${name}`)}`, {}, signal),
    staleTime: 30_000,
  })

/** Returns the parameters of addresses within the project, for links. */
export const useProjectParams = () => route.useParams()

/** Returns the address of the project in the API: `/projects/root%2Fdemo`. */
export function useProjectPath(): string {
  const { namespace, name } = route.useParams()
  return `/projects/${segment(`${namespace}/${name}`)}`
}

/** Returns the project of the page. Pages in the frame are rendered only when it is loaded. */
export function useProject(): Project {
  const { namespace, name } = route.useParams()
  const { data } = useQuery(projectQuery(namespace, name))
  if (!data) throw new Error('A page of a project is shown without the project')
  return data
}

const tabs = [
  { to: '/projects/$namespace/$name', name: 'Commits' },
  { to: '/projects/$namespace/$name/branches', name: 'Branches' },
  { to: '/projects/$namespace/$name/compare', name: 'Compare' },
  { to: '/projects/$namespace/$name/pipelines', name: 'Pipelines' },
  { to: '/projects/$namespace/$name/deployments', name: 'Deployments' },
  { to: '/projects/$namespace/$name/delivery', name: 'Delivery' },
  { to: '/projects/$namespace/$name/releases', name: 'Releases' },
  { to: '/projects/$namespace/$name/settings', name: 'Settings' },
] as const

type Part = (typeof tabs)[number]['name'] | 'Files'

const levels = { reporter: 20, maintainer: 40 }

/** Returns whether the session may use a part of a project, by the role matrix of the API. */
function mayUsePart(part: string, { visibility, permissions }: Project, isAdministrator: boolean): boolean {
  const level = isAdministrator ? levels.maintainer : (permissions.project_access?.access_level ?? 0)
  const others: Partial<Record<string, boolean>> = {
    Deployments: level >= levels.reporter,
    Delivery: level >= levels.reporter,
    Releases: true,
    Settings: level >= levels.maintainer,
  } satisfies Partial<Record<Part, boolean>>
  // All other parts show the code, or data about its commits.
  return others[part] ?? (visibility !== 'private' || level >= levels.reporter)
}

/**
 * Marks a link as current only for its whole address, so that not all parts of a project are current on its
 * pages.
 */
const shownPageOnly = { exact: true, includeSearch: false }

/** Returns the part of a project that the rest of an address belongs to: `/branches` ⇒ 'Branches'. */
function partOf(below: string): string {
  const [, first = ''] = below.split('/')
  const inCommits = ['', 'commits', 'new-commit']
  return inCommits.includes(first) ? 'Commits' : `${first.slice(0, 1).toUpperCase()}${first.slice(1)}`
}

/** The frame of every page of a project: its path and its navigation. */
export function ProjectFrame() {
  const params = route.useParams()
  const { namespace, name } = params
  const may = useMay('projects')
  const isAdministrator = useSession().user?.is_admin === true
  const path = useRouterState({ select: (state) => state.location.pathname })
  const project = useQuery({ ...projectQuery(namespace, name), enabled: may })
  if (!may) return <NotAllowed />
  if (isMissing(project.error)) return <NotFound />
  if (!project.data)
    return project.isError ? <Problem error={project.error} retry={project.refetch} /> : <Loading />
  const { default_branch, visibility, archived } = project.data
  const { data } = project
  const mayUse = (part: string) => mayUsePart(part, data, isAdministrator)
  const link =
    'rounded-md px-3 py-1 text-sm hover:bg-raised [&[aria-current]]:bg-accent-soft [&[aria-current]]:font-semibold [&[aria-current]]:text-accent'
  const base = `/projects/${segment(namespace)}/${segment(name)}`
  const below = path.replace(/\/$/, '').slice(base.length)
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2 text-sm">
        <Link to="/projects" activeOptions={shownPageOnly} className="text-accent hover:underline">
          Projects
        </Link>
        <span aria-hidden="true">/</span>
        <span dir="auto" className="font-semibold">
          {project.data.path_with_namespace}
        </span>
        <Badge>{visibility}</Badge>
        {archived && <Badge tone="warn">archived</Badge>}
      </div>
      <nav aria-label="Project" className="mb-5 flex flex-wrap gap-1 border-b pb-2">
        {default_branch && mayUse('Files') && (
          <Link
            to="/projects/$namespace/$name/files/$ref/$"
            params={{ ...params, ref: default_branch, _splat: '' }}
            activeOptions={shownPageOnly}
            aria-current={partOf(below) === 'Files' ? 'true' : undefined}
            className={link}
          >
            Files
          </Link>
        )}
        {tabs
          .filter((tab) => mayUse(tab.name))
          .map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              params={params}
              activeOptions={shownPageOnly}
              aria-current={partOf(below) === name ? 'true' : undefined}
              className={link}
            >
              {name}
            </Link>
          ))}
      </nav>
      {mayUse(partOf(below)) ? <Outlet /> : <NotAllowed />}
    </>
  )
}
