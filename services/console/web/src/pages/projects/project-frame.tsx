import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet, useRouterState } from '@tanstack/react-router'
import { get, segment } from '../../api/client'
import { useMay } from '../../api/session'
import { Badge } from '../../components/badge'
import { isMissing, Loading, NotAllowed, NotFound, Problem } from '../../components/states'
import type { Project } from '../../generated/types.gen'

const route = getRouteApi('/projects/$namespace/$name')

export const projectQuery = (namespace: string, name: string) =>
  queryOptions({
    queryKey: ['project', namespace, name],
    queryFn: ({ signal }) => get<Project>(`/projects/${segment(`${namespace}/${name}`)}`, {}, signal),
    staleTime: 30_000,
  })

/** The parameters of addresses within the project, for links. */
export const useProjectParams = () => route.useParams()

/** The address of the project in the API: `/projects/root%2Fdemo`. */
export function useProjectPath(): string {
  const { namespace, name } = route.useParams()
  return `/projects/${segment(`${namespace}/${name}`)}`
}

/** The project of the page. Pages below the frame are shown only when it is known. */
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
  { to: '/projects/$namespace/$name/deployments', name: 'Deployments' },
  { to: '/projects/$namespace/$name/settings', name: 'Settings' },
] as const

/** What stands above every page of a project: its path and its pages. */
export function ProjectFrame() {
  const params = route.useParams()
  const { namespace, name } = params
  const may = useMay('projects')
  const path = useRouterState({ select: (state) => state.location.pathname })
  const project = useQuery({ ...projectQuery(namespace, name), enabled: may })
  if (!may) return <NotAllowed />
  if (isMissing(project.error)) return <NotFound />
  if (!project.data)
    return project.isError ? <Problem error={project.error} retry={project.refetch} /> : <Loading />
  const { default_branch, visibility, archived } = project.data
  const link =
    'rounded-md px-3 py-1 text-sm hover:bg-raised aria-[current=page]:bg-accent-soft aria-[current=page]:font-semibold aria-[current=page]:text-accent'
  const base = `/projects/${segment(namespace)}/${segment(name)}`
  const isCurrent = (to: string) => path.replace(/\/$/, '') === to.replace('/projects/$namespace/$name', base)
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2 text-sm">
        <Link to="/projects" className="text-accent hover:underline">
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
        {tabs.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            params={params}
            aria-current={isCurrent(to) ? 'page' : undefined}
            className={link}
          >
            {name}
          </Link>
        ))}
        {default_branch && (
          <Link
            to="/projects/$namespace/$name/files/$ref/$"
            params={{ ...params, ref: default_branch, _splat: '' }}
            aria-current={path.startsWith(`${base}/files/`) ? 'page' : undefined}
            className={link}
          >
            Files
          </Link>
        )}
      </nav>
      <Outlet />
    </>
  )
}
