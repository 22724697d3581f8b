import {
  type AlterTableCmd,
  type AlterTableStmt,
  type ColumnDef,
  type Constraint,
  type IndexStmt,
  type Node,
  type ParseResult,
  parse,
} from 'libpg-query'

/** The line by which a migration declares that it removes something that no release since this one uses. */
const contract = /^-- contract: nothing has (?:read|used) \S.* since \d+\.\d+\.\d+$/m

/**
 * Returns the problems of a migration: changes that break the previous release, which still runs, and locks
 * that hold a table for long. A migration may change the tables that it creates.
 */
export async function problemsOf(sql: string): Promise<string[]> {
  const { stmts = [] }: ParseResult = await parse(sql)
  const statements = stmts.flatMap(({ stmt }) => (stmt ? [stmt] : []))
  const created = new Set(
    statements.flatMap((node) => ('CreateStmt' in node ? [node.CreateStmt.relation?.relname ?? ''] : [])),
  )
  const findings = statements.flatMap((node) => findingsOf(node, created))
  const isContract = contract.test(sql)
  return [
    ...findings.filter(({ takesAway }) => !(takesAway && isContract)).map(({ problem }) => problem),
    ...aloneProblems(statements),
    ...tableProblems(statements, created),
  ]
}

interface Finding {
  problem: string
  /**
   * Whether the change removes something. Such a change locks no table for long, and is allowed as soon as no
   * release in use needs the removed thing.
   */
  takesAway: boolean
}

const problem = (text: string): Finding[] => [{ problem: text, takesAway: false }]
const takesAway = (text: string): Finding[] => [
  { problem: `${text}: the release before may use it`, takesAway: true },
]

const harmless = new Set([
  'CreateStmt',
  'CreateFunctionStmt',
  'CreateExtensionStmt',
  'CreateEnumStmt',
  'AlterEnumStmt',
  'CommentStmt',
  'GrantStmt',
  'SelectStmt',
  'InsertStmt',
])

function findingsOf(node: Node, created: Set<string>): Finding[] {
  if ('AlterTableStmt' in node) return alterations(node.AlterTableStmt, created)
  if ('IndexStmt' in node) return builtIndex(node.IndexStmt, created)
  if ('DropStmt' in node) {
    if (node.DropStmt.removeType !== 'OBJECT_INDEX') return takesAway('drops')
    return node.DropStmt.concurrent ? [] : problem('an index is dropped CONCURRENTLY')
  }
  if ('RenameStmt' in node) return takesAway('renames')
  if ('UpdateStmt' in node || 'DeleteStmt' in node)
    return problem('rows are changed in batches by a service, not by a migration')
  const kind = Object.keys(node)[0] ?? ''
  return harmless.has(kind) ? [] : problem(`${kind} has no rule: add one to migration-rules.ts`)
}

function builtIndex({ concurrent, relation }: IndexStmt, created: Set<string>): Finding[] {
  // ON ONLY a partitioned table builds nothing yet.
  const isQuick = concurrent || relation?.inh !== true || created.has(relation.relname ?? '')
  return isQuick ? [] : problem('an index on a table that is there is built CONCURRENTLY')
}

function alterations({ relation, cmds = [], objtype }: AlterTableStmt, created: Set<string>): Finding[] {
  if (objtype !== 'OBJECT_TABLE' || created.has(relation?.relname ?? '')) return []
  return cmds.flatMap((node) => ('AlterTableCmd' in node ? alteration(node.AlterTableCmd) : []))
}

function alteration({ subtype, def }: AlterTableCmd): Finding[] {
  switch (subtype) {
    case 'AT_AddColumn':
      return def && 'ColumnDef' in def ? addedColumn(def.ColumnDef) : []
    case 'AT_AddConstraint':
      return def && 'Constraint' in def ? addedConstraint(def.Constraint) : []
    case 'AT_DropColumn':
      return takesAway('drops a column')
    case 'AT_AlterColumnType':
      return problem('changes the type of a column: add a column, fill it in batches, drop the old one later')
    case 'AT_SetNotNull':
      return problem(
        'SET NOT NULL reads the whole table: add CHECK (column IS NOT NULL) NOT VALID, validate it',
      )
    case 'AT_ColumnDefault':
    case 'AT_DropNotNull':
    case 'AT_DropConstraint':
    case 'AT_ValidateConstraint':
    case 'AT_SetStatistics':
    case 'AT_SetRelOptions':
      return []
    default:
      return problem(`${subtype} has no rule: add one to migration-rules.ts`)
  }
}

const serials = new Set(['serial', 'serial4', 'serial8', 'bigserial', 'smallserial', 'serial2'])

function addedColumn({ typeName, constraints = [] }: ColumnDef): Finding[] {
  const given = constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint] : []))
  const types = given.map(({ contype }) => contype)
  const type = typeName?.names?.at(-1)
  if (type && 'String' in type && serials.has(type.String.sval ?? ''))
    return problem('serial fills every row')
  // A function may return another value for each row, so PostgreSQL rewrites the table. Constants and
  // CURRENT_TIMESTAMP do not cause that.
  const isComputed = JSON.stringify(given).includes('"FuncCall"')
  if (isComputed || types.includes('CONSTR_GENERATED') || types.includes('CONSTR_IDENTITY'))
    return problem('the default fills every row: add the column without it')
  if (types.includes('CONSTR_NOTNULL') && !types.includes('CONSTR_DEFAULT'))
    return problem('NOT NULL without a default: the release before inserts rows without the column')
  const allowed = new Set(['CONSTR_NOTNULL', 'CONSTR_NULL', 'CONSTR_DEFAULT'])
  return types.every((name) => name && allowed.has(name))
    ? []
    : problem('the constraint of a new column is added by itself, NOT VALID, or by an index')
}

function addedConstraint({ contype, skip_validation, indexname }: Constraint): Finding[] {
  if (contype === 'CONSTR_FOREIGN' || contype === 'CONSTR_CHECK')
    return skip_validation
      ? []
      : problem('the constraint is added NOT VALID, and validated by a later migration')
  return indexname ? [] : problem('the constraint is added USING INDEX, with an index built CONCURRENTLY')
}

/** Returns the statements that cannot run, or not run quickly, in one transaction with other statements. */
function aloneProblems(statements: Node[]): string[] {
  const isLong = (node: Node) =>
    ('IndexStmt' in node && node.IndexStmt.concurrent) ||
    ('DropStmt' in node && node.DropStmt.concurrent) ||
    JSON.stringify(node).includes('AT_ValidateConstraint')
  return statements.length > 1 && statements.some(isLong)
    ? ['CONCURRENTLY and VALIDATE CONSTRAINT stand alone in a migration']
    : []
}

/**
 * Returns a problem for changes of two tables: the lock of the first would be held while the migration waits
 * for the second.
 */
function tableProblems(statements: Node[], created: Set<string>): string[] {
  const changed = statements.flatMap((node) =>
    'AlterTableStmt' in node ? [node.AlterTableStmt.relation?.relname ?? ''] : [],
  )
  const existing = new Set(changed.filter((name) => !created.has(name)))
  return existing.size > 1 ? ['changes more than one table that is there: write one migration for each'] : []
}
