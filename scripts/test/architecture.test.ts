import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { repository } from '../../ops/docker/test/support/build-stages.js'
import { readRepositoryFile } from '../../ops/docker/test/support/compose.js'
import { findDestination, readRoutes } from '../../packages/local-servers/src/gateway/routing-table.js'

const architecture = readRepositoryFile('docs/architecture.md')
const oneRequest = readRepositoryFile('docs/one-request.md')

/** Returns the rows of a table of docs/one-request.md: part → file. */
const partsOf = (table: string): Record<string, string> =>
  Object.fromEntries(
    [...table.matchAll(/^\| (\w+) +\| `(\S+)` +\|$/gm)].map(([, part = '', file = '']) => [part, file]),
  )

/** The tables of docs/one-request.md by request. */
const requests = [...oneRequest.matchAll(/^`([A-Z]+) (\S+)`\n\n((?:\|.*\n)+)/gm)].map(
  ([, method = '', path = '', table = '']) => ({ method, path, parts: partsOf(table) }),
)

/** The tables of docs/one-request.md by job. */
const jobs = [...oneRequest.matchAll(/^The job `([a-z-]+)`\n\n((?:\|.*\n)+)/gm)].map(
  ([, queue = '', table = '']) => ({ queue, parts: partsOf(table) }),
)

/** Returns the files that a file imports or re-exports; for a package, the file that its `exports` name. */
function importsOf(file: string): string[] {
  const specifiers = readRepositoryFile(file).matchAll(/^(?:import|export|\}) .*?from '([^']+)'$/gm)
  return [...specifiers].flatMap(([, specifier = '']) => {
    if (specifier.startsWith('.')) return [normalize(join(dirname(file), specifier.replace(/\.js$/, '.ts')))]
    const [scope, name = '', ...rest] = specifier.split('/')
    if (scope !== '@switchyard') return []
    const { exports } = JSON.parse(readRepositoryFile(`packages/${name}/package.json`))
    const entry: unknown = exports[['.', ...rest].join('/')]
    return typeof entry === 'string' ? [join('packages', name, entry)] : []
  })
}

/** Returns a file, and all files of the same package or service that it reaches. */
function reachedFrom(entry: string): Set<string> {
  const [root] = /^(?:packages|services)\/[^/]+\//.exec(entry) ?? ['']
  const reached = new Set([entry])
  for (const file of reached) {
    for (const imported of importsOf(file)) {
      if (imported.startsWith(root) && existsSync(join(repository, imported))) reached.add(imported)
    }
  }
  return reached
}

/**
 * Returns the files that the work of a subject reaches in its own package or service, and in the packages
 * that it imports.
 */
const reachedByWork = (work: string): string[] =>
  [work, ...importsOf(work)].flatMap((entry) => [...reachedFrom(entry)])

it('docs/one-request.md follows six requests and two jobs through their files', () => {
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api/v4/projects/:id/repository/commits',
    'POST /api/v4/projects/:id/statuses/:sha',
    'POST /:namespace/:project/git-receive-pack',
    'GET /api/v4/sagas',
    'POST /api/v4/broadcast_messages',
    'GET /api/v4/broadcast_messages/stream',
  ])
  expect(jobs.map(({ queue }) => queue)).toEqual(['webhook-delivery', 'deployment-impact'])
})

it('docs/one-request.md names a file that exists for each step', () => {
  const files = [...oneRequest.matchAll(/^\| \w+ .*\| `([^`]+)` +\|$/gm)].map(([, file = '']) => file)
  expect(files.length).toBeGreaterThan(18)
  expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([])
})

it.each(requests)('each file of $method $path leads to the next', ({ path, parts }) => {
  const { gateway = '', routes = '', work = '', shape, ...stored } = parts
  const last = Object.values(stored)
  expect(last).not.toEqual([])
  const [, service] = routes.split('/')
  expect(findDestination(readRoutes(join(repository, gateway)), path)).toMatchObject({ service })
  expect(importsOf(routes)).toEqual(expect.arrayContaining(shape === undefined ? [work] : [work, shape]))
  expect(reachedByWork(work)).toEqual(expect.arrayContaining(last))
})

it.each(jobs)('each file of the job $queue leads to the next', ({ queue, parts }) => {
  const { jobs = '', work = '', ...stored } = parts
  expect(importsOf(jobs)).toContain(work)
  expect(readRepositoryFile(work)).toContain(`queue: '${queue}'`)
  const steps = [work, ...Object.values(stored)]
  expect(steps.length).toBeGreaterThan(2)
  for (const [index, step] of steps.entries()) {
    if (index > 0) expect(steps.slice(0, index).flatMap(reachedByWork)).toContain(step)
  }
})

it('docs/architecture.md lists every package with its allowed imports, equal to its manifest and the check of imports', () => {
  const rows = architecture.matchAll(/^\| `([\w-]+)` +\| .+? +\| (.+?) +\|$/gm)
  const documented = new Map([...rows].map(([, name = '', uses = '']) => [name, uses]))
  expect([...documented.keys()].sort()).toEqual(readdirSync(join(repository, 'packages')).sort())
  const rules = readRepositoryFile('.dependency-cruiser.cjs').matchAll(/^ {4}below\('([\w-]+)', \[(.*)\]\)/gm)
  for (const [, name = '', allowed = ''] of rules) {
    const names = allowed.replaceAll("'", '')
    expect([name, documented.get(name)]).toEqual([name, names === '' ? 'nothing' : names])
    const { dependencies, devDependencies } = JSON.parse(readRepositoryFile(`packages/${name}/package.json`))
    const used = Object.keys({ ...dependencies, ...devDependencies })
      .filter((used) => used.startsWith('@switchyard/') && used !== '@switchyard/bundler')
      .map((used) => used.slice('@switchyard/'.length))
    expect([name, ...used.sort()]).toEqual([name, ...names.split(', ').filter(Boolean).sort()])
  }
})

const folders = [
  'ops',
  'proto',
  'scripts',
  'trials',
  ...['packages', 'services'].flatMap((parent) =>
    readdirSync(join(repository, parent)).map((name) => `${parent}/${name}`),
  ),
]

it.each(folders)('the README of %s names existing files, and has at least five lines', (folder) => {
  const readme = readRepositoryFile(`${folder}/README.md`)
  expect(readme.split('\n').filter((line) => line !== '').length).toBeGreaterThanOrEqual(5)
  const named = [
    ...readme.matchAll(/`((?:src|prisma|web)\/\S+?|[\w/-]+\.(?:mjs|proto))`|\]\((\.[^)#]+)/g),
  ].map(([, file, link]) => file ?? link)
  expect(named.filter((file = '') => !existsSync(join(repository, folder, file)))).toEqual([])
})

it('docs/glossary.md names a file that exists for each word', () => {
  const words = readRepositoryFile('docs/glossary.md').split('\n- ').slice(1)
  expect(words.length).toBeGreaterThan(24)
  for (const word of words) {
    const files = [...word.matchAll(/`([^`\s]+\/[^`\s]+)`|\]\(([^)#]+)/g)].map(
      ([, path, page]) => path ?? `docs/${page}`,
    )
    expect(files, word).not.toEqual([])
    expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([])
  }
})
