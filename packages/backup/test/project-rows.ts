import type { Pooled } from '@switchyard/db'
import { projectTables } from '../src/database/project-tables.js'

const key = { known: '0123456789abcdef', lost: 'fedcba9876543210' }
const sha = 'a'.repeat(40)
const user = (name: string) => `(SELECT id FROM users WHERE username_key = '${name}')`
const idIn = (table: string, projectId: number) =>
  `(SELECT max(id) FROM ${table} WHERE project_id = ${projectId})`

/** Adds at least one row of a project to each of its tables, with the users `mona`, `bob` and a bot. */
export async function fillTables({ pool }: Pooled, projectId: number): Promise<void> {
  const p = projectId
  const id = (table: string) => idIn(table, p)
  await pool.query(`
    INSERT INTO users (username, username_key, name, email, email_key, bot) VALUES ('bot_1', 'bot_1', 'Bot', 'b@x', 'b@x', true);
    UPDATE projects SET settings = '{"ci_config_path": "ci.yml"}', topics = '{one,two}', description = E'tab\\tand \\u2028 line\\n',
      last_deployment_iid = 7 WHERE id = ${p};
    INSERT INTO project_members (project_id, user_id, access_level, expires_at) VALUES
      (${p}, (SELECT owner_id FROM projects WHERE id = ${p}), 50, NULL), (${p}, ${user('mona')}, 40, NULL),
      (${p}, ${user('bob')}, 30, '2040-01-31'), (${p}, ${user('bot_1')}, 30, NULL);
    INSERT INTO protected_branches (project_id, name) VALUES (${p}, 'trunk'), (${p}, 'rel-*');
    INSERT INTO protected_tags (project_id, name, create_access_levels) VALUES (${p}, 'v*', '{40}');
    INSERT INTO storage_uses (project_id, lfs_bytes, repository_bytes) VALUES (${p}, 102000, 1)
      ON CONFLICT (project_id) DO UPDATE SET repository_bytes = 1;
    INSERT INTO lfs_locks (project_id, path, owner_id) VALUES (${p}, 'a.bin', ${user('mona')}), (${p}, 'b.bin', ${user('bob')});
    INSERT INTO releases (project_id, tag, name, author_id, released_at) VALUES
      (${p}, 'v1', 'One', ${user('mona')}, '2026-01-31'), (${p}, 'v2', 'Two', ${user('bob')}, '2026-02-28');
    INSERT INTO release_links (project_id, release_id, name, url) VALUES
      (${p}, ${id('releases')}, 'own', 'https://x.example.com/api/v4/projects/${p}/packages/generic/app/1/app.zip'),
      (${p}, ${id('releases')}, 'upload', 'https://x.example.com/-/project/${p}/uploads/' ||
        (SELECT secret FROM uploads WHERE project_id = ${p}) || '/a.zip'),
      (${p}, ${id('releases')}, 'other', 'https://other.example.com/api/v4/projects/${p}/packages/generic/other/1/app.zip');
    INSERT INTO pipelines (project_id, sha, ref, author_id) VALUES (${p}, '${sha}', 'trunk', ${user('mona')});
    INSERT INTO commit_statuses (project_id, sha, ref, pipeline_id, name, status, author_id)
      SELECT ${p}, '${sha}', 'trunk', ${id('pipelines')}, 'job-' || n, 'success', ${user('bob')} FROM generate_series(1, 20) n;
    INSERT INTO status_reports (project_id, sha, name, format, pipeline_id, status_id, outcomes, entries, author_id)
      VALUES (${p}, '${sha}', 'job-1', 'junit', ${id('pipelines')}, ${id('commit_statuses')}, '\\x000a09', '\\x5c0a', ${user('mona')});
    INSERT INTO environments (project_id, name, slug, tier) VALUES (${p}, 'staging', 's', 'staging'), (${p}, 'production', 'p', 'production');
    INSERT INTO deployments (project_id, iid, environment_id, ref, tag, sha, status, user_id, frozen) VALUES
      (${p}, 6, ${id('environments')}, 'trunk', false, '${sha}', 'success', ${user('mona')}, false),
      (${p}, 7, ${id('environments')} - 1, 'v1', true, '${sha}', 'blocked', ${user('bot_1')}, true);
    INSERT INTO deployment_impacts (project_id, deployment_id, window_from, started_at, window_to, services)
      VALUES (${p}, ${id('deployments')}, '2026-01-01', '2026-01-02', '2026-01-03', '[]');
    INSERT INTO deployment_findings (project_id, deployment_id, tenant, service_name, measure, after, samples_before, samples_after,
      chance, onset_at, found_at) VALUES (${p}, ${id('deployments')}, 't', 's', 'errors', 0.5, 1, 2, 0.01, '2026-01-02', '2026-01-03');
    INSERT INTO deployment_dismissals (project_id, deployment_id, reason, user_id) VALUES (${p}, ${id('deployments')}, 'no', ${user('bob')});
    INSERT INTO deployment_failures (project_id, deployment_id, reason, user_id) VALUES (${p}, ${id('deployments')}, 'down', ${user('bob')});
    INSERT INTO deployment_changes (project_id, deployment_id, look_at, rolls_back_id)
      VALUES (${p}, ${id('deployments')}, NULL, ${id('deployments')} - 1);
    INSERT INTO impact_rules (project_id, name, freezes, tells_webhooks) VALUES (${p}, 'freeze', true, false);
    INSERT INTO impact_rule_runs (project_id, rule_id, deployment_id, environment_id, dry_run, freezes, tells_webhooks, findings,
      applied_at, ended_at, end_reason, ended_by) VALUES (${p}, ${id('impact_rules')}, ${id('deployments')}, ${id('environments')},
      false, true, false, '[]', '2026-01-03', '2026-01-04', 'reverted', ${user('mona')});
    INSERT INTO protected_environments (project_id, name, deploy_access_levels, approval_rules) SELECT ${p}, 'production',
      jsonb_build_array('{"id": 1, "accessLevel": 40, "userId": null}'::jsonb,
        jsonb_build_object('id', 2, 'accessLevel', NULL, 'userId', ${user('mona')})),
      jsonb_build_array(jsonb_build_object('id', 1, 'accessLevel', NULL, 'userId', ${user('bob')}, 'requiredApprovals', 2));
    INSERT INTO deployment_approvals (project_id, deployment_id, user_id, access_level, status)
      VALUES (${p}, ${id('deployments')}, ${user('mona')}, 40, 'approved'), (${p}, ${id('deployments')}, ${user('bob')}, 30, 'rejected');
    INSERT INTO freeze_periods (project_id, freeze_start, freeze_end, cron_timezone) VALUES (${p}, '0 1 * * *', '0 2 * * *', 'UTC');
    INSERT INTO commit_comments (project_id, sha, note, author_id, discussion_id) VALUES
      (${p}, '${sha}', E'a note\\twith \\\\N', ${user('mona')}, NULL), (${p}, '${sha}', 'reply to a deleted one', ${user('bob')}, 900001),
      (${p}, '${sha}', 'another reply', ${user('mona')}, 900001);
    INSERT INTO job_commits (project_id, sha, job) VALUES (${p}, '${sha}', '{"issuer": "https://ci.example.com"}');
    INSERT INTO webhooks (scope, project_id, url, host, events, encrypted_secret, secret_key_id, header_names, encrypted_headers,
      headers_key_id, created_by) VALUES
      ('project', ${p}, 'https://a', 'a', '{push}', '\\x01', '${key.known}', '{}', NULL, NULL, ${user('mona')}),
      ('project', ${p}, 'https://b', 'b', '{push}', '\\x02', '${key.lost}', '{X-Key}', '\\x03', '${key.lost}', ${user('bob')});
    INSERT INTO deploy_tokens (project_id, name, token_hash) VALUES (${p}, 'd', '\\x${'ab'.repeat(32)}')`)
}

/** Removes the key of the second webhook from the database of an installation. */
export const forgetLostKey = ({ pool }: Pooled) =>
  pool.query(`DELETE FROM webhooks WHERE secret_key_id = '${key.lost}'`)

type Row = Record<string, unknown>

/**
 * Describes all rows of a project by table, with ids replaced by their position in the table, and user ids by
 * names.
 */
export async function describeRows({ pool }: Pooled, projectId: number): Promise<Record<string, Row[]>> {
  const { rows: users } = await pool.query<{ id: number; username: string }>('SELECT id, username FROM users')
  const names = new Map(users.map(({ id, username }) => [`users ${id}`, username]))
  const found = new Map<string, Row[]>()
  for (const { name } of projectTables) {
    const { rows } = await pool.query<Row>(
      `SELECT * FROM ${name} r WHERE project_id = ${projectId} ORDER BY r::text COLLATE "C"`,
    )
    const sorted = rows.every(({ id }) => id !== undefined)
      ? rows.sort((a, b) => Number(a.id) - Number(b.id))
      : rows
    sorted.forEach(({ id }, position) => void names.set(`${name} ${id}`, `${name} ${position}`))
    found.set(name, sorted)
  }
  const nameOf = (table: string, id: unknown) =>
    id === null ? null : (names.get(`${table} ${id}`) ?? `${table} gone`)
  return Object.fromEntries(
    projectTables.map(({ name, references = {} }) => [
      name,
      (found.get(name) ?? []).map(({ id, project_id: _project, ...row }) => ({
        ...row,
        ...Object.fromEntries(
          Object.entries(references).map(([column, to]) => [column, nameOf(to, row[column])]),
        ),
      })),
    ]),
  )
}
