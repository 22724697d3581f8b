import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { diskPathOf } from '@switchyard/git-storage/repository-files'
import pg from 'pg'
import { createClient } from '../git/load.js'
import { type GitApi, withGitApi } from './git-projects.js'
import { askAll, expectAnswer, type Subject } from './measure.js'

const users = 50

/** Projects of fifty users, nine of ten of them private. */
export const projects: Subject = {
  unit: 'projects',
  sizes: [100, 1_000, 10_000],
  measure: (size) =>
    withGitApi(async (gitApi) => {
      const { ids, owner } = await fill(gitApi, size)
      const user = createClient([gitApi.port], owner.token)
      const ask = (client: GitApi['client'], path: string) =>
        client.get(`/api/v4/projects${path}`).then(expectAnswer)
      try {
        return await askAll([
          { name: '20, administrator', ask: () => ask(gitApi.client, '') },
          { name: '20 that a user may see', ask: () => ask(user, '') },
          { name: '20 of a user', ask: () => ask(user, '?owned=true') },
          { name: 'one project', ask: (index) => ask(gitApi.client, `/${ids[(index * 7919) % ids.length]}`) },
          {
            name: 'search, administrator',
            ask: (index) => ask(gitApi.client, `?search=engine-${numberOf((index * 7919) % size)}`),
          },
          {
            name: 'search, user',
            ask: (index) => ask(user, `?search=engine-${numberOf((index * 7919) % size)}`),
          },
        ])
      } finally {
        user.close()
      }
    }),
}

const numberOf = (index: number) => String(index + 1).padStart(6, '0')

const insertProjects = `INSERT INTO projects
    (id, name, path, description, path_with_namespace, path_key, owner_id, visibility, disk_path, created_at, last_activity_at)
  SELECT $1 + n, 'Engine ' || lpad(n::text, 6, '0'), 'engine-' || lpad(n::text, 6, '0'), 'Builds what team ' || n % 40 || ' delivers',
    username || '/engine-' || lpad(n::text, 6, '0'), username || '/engine-' || lpad(n::text, 6, '0'), u.id,
    CASE WHEN n % 10 = 0 THEN 'internal' ELSE 'private' END, 'disk-path-' || n,
    now() - interval '1 hour' * (n * 7919 % $2), now() - interval '1 minute' * (n * 104729 % $2)
  FROM generate_series(1, $2::int) AS n JOIN users u ON u.username = 'team-' || n % ${users}`

async function fill({ service, client }: GitApi, size: number) {
  const post = async <Answer>(path: string, fields: object) =>
    JSON.parse(expectAnswer(await client.post(`/api/v4${path}`, fields))) as Answer
  const template = await post<{ id: number }>('/projects', { name: 'template', initialize_with_readme: true })
  const owners: { id: number }[] = []
  for (let number = 0; number < users; number += 1) {
    const username = `team-${number}`
    owners.push(
      await post('/users', {
        username,
        name: username,
        email: `${username}@example.com`,
        password: `Long words ${number}!`,
      }),
    )
  }
  const owner = await post<{ token: string }>(`/users/${owners[1]?.id}/personal_access_tokens`, {
    ...{ name: 'bench', scopes: ['api'] },
  })
  const ids = Array.from({ length: size }, (_, index) => template.id + 1 + index)
  const database = new pg.Client({ connectionString: service.databaseUrl })
  await database.connect()
  try {
    await database.query(insertProjects, [template.id, size])
    await database.query(
      'UPDATE projects SET disk_path = paths.path FROM unnest($1::int[], $2::text[]) AS paths(id, path) WHERE projects.id = paths.id',
      [ids, ids.map(diskPathOf)],
    )
    await database.query(
      `INSERT INTO project_members (project_id, user_id, access_level)
        SELECT id, owner_id, 50 FROM projects WHERE id > $1`,
      [template.id],
    )
    await database.query("SELECT setval('projects_id_seq', $1)", [template.id + size])
    await database.query('VACUUM ANALYZE')
  } finally {
    await database.end()
  }
  const repository = (id: number) => join(service.storageRoot, diskPathOf(id))
  for (const id of ids) cpSync(repository(template.id), repository(id), { recursive: true })
  return { ids, owner }
}
