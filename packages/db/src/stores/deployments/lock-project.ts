import { notFound } from '@switchyard/domain'
import type pg from 'pg'

const lock = {
  name: 'lock-project-for-deployments',
  text: 'SELECT FROM projects WHERE id = $1 FOR NO KEY UPDATE',
}

/**
 * Locks a project until the transaction ends. Every transaction that writes environments or deployments begins with this lock,
 * so that limits and moves hold with several writers, and no two writers wait for each other in a circle.
 *
 * @throws DomainError not-found
 */
export async function lockProject(client: pg.PoolClient, projectId: number): Promise<void> {
  const { rowCount } = await client.query({ ...lock, values: [projectId] })
  if (rowCount !== 1) throw notFound('Project')
}
