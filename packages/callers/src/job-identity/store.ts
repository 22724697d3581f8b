import type { Pooled } from '@switchyard/db'
import type { Caller, ClaimPatterns, Scope } from '@switchyard/domain/access'

/** A valid rule, with the bot that its jobs act as. */
export interface TrustRule {
  audience: string
  claims: ClaimPatterns
  projectId: number | null
  scopes: Scope[]
  tenants: string[]
  user: Caller['user']
}

interface RuleRow extends Omit<TrustRule, 'user'>, Omit<Caller['user'], 'id'> {
  userId: number
}

/**
 * Returns a query for valid rules. A rule is valid until its last day, unless its bot is blocked, or the user
 * who made it (otherwise the owner of the project) is blocked.
 */
const select = (
  joins: string,
  condition: string,
  order: string,
) => `SELECT r.audience, r.claims, r.scopes, r.tenants,
    r.project_id AS "projectId", u.id AS "userId", u.username, u.name, u.email, u.admin, u.state
  FROM trusted_issuers r JOIN users u ON u.id = r.user_id LEFT JOIN users creator ON creator.id = r.created_by ${joins}
  WHERE r.issuer = $1 AND ${condition} AND u.state = 'active'
    AND (r.expires_at IS NULL OR r.expires_at >= (now() AT TIME ZONE 'UTC')::date)
  ORDER BY ${order}`

const ofProject = (condition: string) =>
  select(
    `JOIN projects p ON p.id = r.project_id JOIN users owner ON owner.id = p.owner_id
     JOIN project_members m ON m.project_id = r.project_id AND m.user_id = r.user_id`,
    `${condition} AND coalesce(creator.state, owner.state) = 'active'`,
    'm.access_level DESC, r.id',
  )

const byId = { name: 'trust-rules-by-id', text: ofProject('p.id = $2') }
const byPath = { name: 'trust-rules-by-path', text: ofProject('p.path_key = $2') }
const outside = {
  name: 'trust-rules-outside-projects',
  text: select('', `r.project_id IS NULL AND coalesce(creator.state, 'active') = 'active'`, 'r.id'),
}

const idMax = 2_147_483_647

/**
 * Lists the rules about the jobs of an issuer, the highest role first, and for each role the oldest first.
 *
 * @param project id or full path; undefined: the rules outside of projects
 */
export async function listTrustRules(
  { pool }: Pooled,
  issuer: string,
  project: string | undefined,
): Promise<TrustRule[]> {
  const query = queryOf(issuer, project)
  if (!query) return []
  const { rows } = await pool.query<RuleRow>(query)
  return rows.map(({ audience, claims, projectId, scopes, tenants, userId, ...user }) => ({
    audience,
    claims,
    projectId,
    scopes,
    tenants,
    user: { id: userId, ...user },
  }))
}

function queryOf(issuer: string, project: string | undefined) {
  if (project === undefined) return { ...outside, values: [issuer] }
  if (project.includes('\0')) return null
  if (!/^\d+$/.test(project)) return { ...byPath, values: [issuer, project.toLowerCase()] }
  return Number(project) <= idMax ? { ...byId, values: [issuer, Number(project)] } : null
}
