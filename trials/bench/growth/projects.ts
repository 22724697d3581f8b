import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import pg from 'pg'
import { createClient } from '../git/load.js'
import { type GitApi, withGitApi } from './git-projects.js'
import { askAll, expectAnswer, type Figure, measureSizes, type Subject } from './measure.js'

const users = 5

/** Projects of five users, nine of ten of them private. */
export const projects: Subject = {
  unit: 'projects',
  sizes: [100, 1_000, 10_000],
  run: (sizes, tell) =>
    withGitApi(async (gitApi) => {
      const filled = await begin(gitApi)
      const user = createClient([gitApi.port], filled.token)
      try {
        await measureSizes(sizes, (size) => measure(gitApi, { ...filled, user }, size), tell)
      } finally {
        user.close()
      }
    }),
}

interface Filled {
  /** Id of the project whose repository all others share. */
  template: number
  user: GitApi['client']
}

async function measure(gitApi: GitApi, { template, user }: Filled, size: number): Promise<Figure[]> {
  await fill(gitApi, template, size)
  const ask = (client: GitApi['client'], path: string) =>
    client.get(`/api/v4/projects${path}`).then(expectAnswer)
  const any = (index: number) => 1 + ((index * 7919) % size)
  return askAll([
    { name: '20, administrator', ask: () => ask(gitApi.client, '') },
    { name: '20 that a user may see', ask: () => ask(user, '') },
    { name: '20 of a user', ask: () => ask(user, '?owned=true') },
    { name: 'one project', ask: (index) => ask(gitApi.client, `/${template + any(index)}`) },
    { name: 'search, administrator', ask: (index) => ask(gitApi.client, `?search=${pathOf(any(index))}`) },
    { name: 'search, user', ask: (index) => ask(user, `?search=${pathOf(any(index))}`) },
  ])
}

const pathOf = (number: number) => `engine-${String(number).padStart(6, '0')}`

const insertProjects = `INSERT INTO projects
    (id, name, path, description, path_with_namespace, path_key, owner_id, visibility, disk_path, created_at, last_activity_at)
  SELECT $1 + n, 'Engine ' || lpad(n::text, 6, '0'), path, 'Builds what team ' || n % 40 || ' delivers',
    username || '/' || path, username || '/' || path, u.id, CASE WHEN n % 10 = 0 THEN 'internal' ELSE 'private' END,
    disk_path, now() - interval '1 hour' * (n * 7919 % 10007), now() - interval '1 minute' * (n * 104729 % 10007)
  FROM unnest($2::int[], $3::text[], $4::text[]) AS made(n, path, disk_path)
    JOIN users u ON u.username = 'team-' || n % ${users}
  ON CONFLICT DO NOTHING`

const insertMembers = `INSERT INTO project_members (project_id, user_id, access_level)
  SELECT id, owner_id, 50 FROM projects ON CONFLICT DO NOTHING`

/** Creates the users, a project with a commit, and a token of one of the users. */
async function begin({ client }: GitApi): Promise<{ template: number; token: string }> {
  const post = async <Answer>(path: string, fields: object) =>
    JSON.parse(expectAnswer(await client.post(`/api/v4${path}`, fields))) as Answer
  const { id: template } = await post<{ id: number }>('/projects', {
    name: 'template',
    initialize_with_readme: true,
  })
  const ids: number[] = []
  for (let number = 0; number < users; number += 1) {
    const username = `team-${number}`
    const given = { username, name: username, email: `${username}@example.com` }
    ids.push((await post<{ id: number }>('/users', given)).id)
  }
  const given = { name: 'bench', scopes: ['api'] }
  const { token } = await post<{ token: string }>(`/users/${ids[1]}/personal_access_tokens`, given)
  return { template, token }
}

/** Adds projects up to that many. */
async function fill({ service }: GitApi, template: number, size: number): Promise<void> {
  const numbers = Array.from({ length: size }, (_, index) => index + 1)
  const database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
  try {
    const diskPaths = numbers.map((number) => diskPathOf(template + number))
    await database.query(insertProjects, [template, numbers, numbers.map(pathOf), diskPaths])
    await database.query(insertMembers)
    await database.query('VACUUM ANALYZE')
  } finally {
    await database.end()
  }
  // Copies of the repository would take minutes.
  const repository = (id: number) => join(service.storageRoot, diskPathOf(id))
  for (const number of numbers) {
    const path = repository(template + number)
    if (existsSync(path)) continue
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(repository(template), path)
  }
}
