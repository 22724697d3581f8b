/**
 * Returns the console page that corresponds to an address of GitLab below a project; the page of the project
 * when the console has no such page.
 *
 * @param projectPath namespace and path of the project, e.g. `['ada', 'engine']`
 * @param rest parts of the address after `/-/`, decoded, e.g. `['blob', 'main', 'docs', 'a.md']`. The part
 *   after `tree`, `blob` and the like is the whole branch, tag or commit; a slash in its name is
 *   percent-encoded in the address.
 */
export function consolePageOf(projectPath: readonly string[], rest: readonly string[] = []): string {
  const project = `/console/projects/${encodedPath(projectPath)}`
  const [kind = '', first, ...others] = rest
  const page = pages[kind]
  const below = page?.(first ?? '', others) ?? ''
  return `${project}${below}`
}

const files = (ref: string, path: string[]) => (ref === '' ? '' : `/files/${encodedPath([ref, ...path])}`)

/**
 * Console pages by the first part of GitLab's address; the arguments are the second part and the remaining
 * parts.
 */
const pages: Partial<Record<string, (first: string, others: string[]) => string>> = {
  commit: (sha) => (sha === '' ? '' : `/commits/${encodeURIComponent(sha)}`),
  commits: (ref, path) => queryString({ ref, path: path.join('/') }),
  tree: files,
  blob: files,
  raw: files,
  blame: files,
  branches: () => '/branches',
  tags: () => '/branches',
  releases: () => '/releases',
  pipelines: (id) => (/^\d+$/.test(id) ? `/pipelines/${id}` : '/pipelines'),
  compare: (range) => {
    const [from = '', to = ''] = range.split(/\.{2,3}/, 2)
    return `/compare${queryString({ from, to })}`
  },
  environments: () => '/deployments',
  deployments: () => '/deployments',
  settings: () => '/settings',
  hooks: () => '/settings',
  project_members: () => '/settings',
}

/** Returns the console's list of the projects of a user. */
export const consolePageOfUser = (username: string): string =>
  `/console/projects${queryString({ q: username })}`

const encodedPath = (parts: readonly string[]) => parts.map(encodeURIComponent).join('/')

function queryString(parameters: Record<string, string>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
